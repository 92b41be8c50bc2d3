import type { FieldFault } from '../../kernel/problem.js';
import type { TemplateParameter } from '../templates/contract.js';
import { faultOfParameter, isUnfilled } from '../templates/parameters.js';

/** A field that a stage asks a person for. */
export type StageField = Pick<TemplateParameter, 'key' | 'type' | 'options'> & {
  /** The words for a person. */
  label?: string;
  required?: boolean;
};

/** Returns the faults of the values that a person gives a stage, each with its path. */
export const inputFaults = (
  config: Record<string, unknown>,
  values: Record<string, unknown>,
): FieldFault[] => {
  const fields = fieldsIn(config);
  const keys = fields.map(({ key }) => key);
  const unknown = Object.keys(values)
    .filter((key) => !keys.includes(key))
    .map((key) => ({ path: `values.${key}`, message: 'is not a field of the form' }));
  const wrong = fields.flatMap((field) => {
    const value = Object.hasOwn(values, field.key) ? values[field.key] : undefined;
    const path = `values.${field.key}`;
    if (field.required && isUnfilled(value)) return [{ path, message: 'is required' }];
    if (value === undefined) return [];
    const fault = faultOfParameter(field, value);
    return fault === null ? [] : [{ path, message: fault }];
  });
  return [...unknown, ...wrong];
};

/** Returns the fields of a configuration, whose form was checked when its template was saved. */
export const fieldsIn = ({ fields }: Record<string, unknown>): StageField[] =>
  Array.isArray(fields) ? fields : [];

/** Returns the values of all fields; those that were not given are null. */
export const allValues = (
  config: Record<string, unknown>,
  values: Record<string, unknown>,
): Record<string, unknown> => ({
  ...Object.fromEntries(fieldsIn(config).map(({ key }) => [key, null])),
  ...values,
});
