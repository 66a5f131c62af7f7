/** SHA-256 of the module: another one is not started. */
export default "a9bcdf50efe3a6b287f0b371e1e0c1b9bc580fa43200602ccf5e2490e9a62e99";
