/** Its message continues after the field name: `must be …`. */
export class InvalidRule extends Error {}
