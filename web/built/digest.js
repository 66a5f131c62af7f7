/** SHA-256 of the module: another one is not started. */
export default "9d1b918c8ddb97187c8ca9948a1b06ffb4244c89d34c9fbdb8e2a690df27340c";
