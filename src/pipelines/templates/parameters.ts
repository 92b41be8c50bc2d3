import type { FieldFault } from '../../kernel/problem.js';
import type { TemplateParameter } from './contract.js';

export const parameterFaults = (parameters: TemplateParameter[]): FieldFault[] => {
  const keys = parameters.map(({ key }) => key);
  return parameters.flatMap((parameter, index) => {
    const at = `parameters.${index}`;
    const { key, type, options, required = false } = parameter;
    const faults: FieldFault[] = [];
    if (keys.indexOf(key) < index) {
      faults.push({
        path: `${at}.key`,
        message: `must be unique; another parameter has the key ${key} as well`,
      });
    }
    if (type === 'choice' && !options?.length) {
      faults.push({ path: `${at}.options`, message: 'is required for the type choice' });
    }
    if (type !== 'choice' && options !== undefined) {
      faults.push({ path: `${at}.options`, message: 'is only allowed for the type choice' });
    }
    if (parameter.default === undefined) return faults;
    const fault = parameterFault(parameter, parameter.default);
    if (fault !== null) faults.push({ path: `${at}.default`, message: fault });
    if (required) {
      faults.push({ path: `${at}.default`, message: 'is not allowed for a required parameter' });
    }
    return faults;
  });
};

/** Fills in defaults. Paths of faults start with `params`. */
export const resolveParameters = (
  parameters: TemplateParameter[],
  input: Record<string, unknown>,
): { values: Record<string, unknown>; faults: FieldFault[] } => {
  const keys = parameters.map(({ key }) => key);
  const faults = Object.keys(input)
    .filter((key) => !keys.includes(key))
    .map((key) => ({ path: `params.${key}`, message: 'is not a parameter of the template' }));
  const values: Record<string, unknown> = {};
  for (const parameter of parameters) {
    const passed = Object.hasOwn(input, parameter.key) ? input[parameter.key] : null;
    const value = passed ?? parameter.default ?? null;
    const path = `params.${parameter.key}`;
    if (isBlankValue(value) && parameter.required) faults.push({ path, message: 'is required' });
    const fault = value === null ? null : parameterFault(parameter, value);
    if (fault !== null) faults.push({ path, message: fault });
    values[parameter.key] = value;
  }
  return { values, faults };
};

export const isBlankValue = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

export const parameterFault = (
  { type, options = [] }: Pick<TemplateParameter, 'type' | 'options'>,
  value: unknown,
): string | null => {
  const fault = parameterTypeFault(type, value);
  if (fault !== null || type !== 'choice' || options.some((option) => option === value))
    return fault;
  return `must be one of ${options.join(', ')}`;
};

export const parameterTypeFault = (
  type: TemplateParameter['type'],
  value: unknown,
): string | null => {
  if (type === 'number') return Number.isFinite(value) ? null : 'must be a number';
  if (type === 'boolean') return typeof value === 'boolean' ? null : 'must be true or false';
  return typeof value === 'string' ? null : 'must be a string';
};
