/** An error of a recurrence rule. Its message goes on after the name of the field: `must be …`. */
export class RuleFault extends Error {}
