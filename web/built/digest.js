/** SHA-256 of the module: another one is not started. */
export default "6f110bcfa4875d195f026ecdf9e37efe40e8daece8cf2c24261aad7f0381c5a4";
