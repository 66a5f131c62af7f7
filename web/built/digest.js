/** SHA-256 of the module: another one is not started. */
export default "bfb3e0c09d74ae6ce56474d0acc7d8d08f119fbce565363153b16bce347080df";
