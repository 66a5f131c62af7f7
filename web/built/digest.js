/** SHA-256 of the module: another one is not started. */
export default "69cde91e46f34a97573b9f059fc34ac1d15c5e769acba92181bbf88aa09464c0";
