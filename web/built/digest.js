/** SHA-256 of the module: another one is not started. */
export default "bfc331327e51485df2ff0012626c87bc1cf33652c788231148ab2adab8115cb6";
