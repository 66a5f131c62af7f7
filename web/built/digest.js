/** SHA-256 of the module: another one is not started. */
export default "7b577401b424054e7c41c6cec253210c3736136f91d7cb5b63a90682a3f9fc8c";
