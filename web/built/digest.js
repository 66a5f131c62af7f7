/** SHA-256 of the module: another one is not started. */
export default "108775d3adcc40ce17ac68d8bc91e5a0ad31e6ecece91649defdb03c54a17b0c";
