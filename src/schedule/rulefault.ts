/** Its message continues after the field name: `must be …`. */
export class RuleFault extends Error {}
