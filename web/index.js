export * from "./errors.js";
export { Client } from "./client.js";
export { LocalClient, Plan } from "./local.js";
export { started } from "./module.js";
