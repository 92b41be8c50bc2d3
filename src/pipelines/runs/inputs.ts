import type { FieldFault } from '../../kernel/problem.js';
import type { TemplateParameter } from '../templates/contract.js';
import { isBlankValue, parameterFault } from '../templates/parameters.js';

export type StageField = Pick<TemplateParameter, 'key' | 'type' | 'options'> & {
  label?: string;
  required?: boolean;
};

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
    if (field.required && isBlankValue(value)) return [{ path, message: 'is required' }];
    if (value === undefined) return [];
    const fault = parameterFault(field, value);
    return fault === null ? [] : [{ path, message: fault }];
  });
  return [...unknown, ...wrong];
};

export const fieldsIn = ({ fields }: Record<string, unknown>): StageField[] =>
  Array.isArray(fields) ? fields : [];

/** Fields without a value are null. */
export const fillInputValues = (
  config: Record<string, unknown>,
  values: Record<string, unknown>,
): Record<string, unknown> => ({
  ...Object.fromEntries(fieldsIn(config).map(({ key }) => [key, null])),
  ...values,
});
