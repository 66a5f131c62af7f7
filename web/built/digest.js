/** SHA-256 of the module: another one is not started. */
export default "45d5c980e12db1a158794e53893054c8419e4868a10bb308c20ed69a8bed16c0";
