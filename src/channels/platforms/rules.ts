import { faultOfHeaderValue } from '../../kernel/headervalue.js';
import type { FieldFault } from '../../kernel/problem.js';
import type { OutboundPlatform as Adapter } from '../../providers/chat/platform.js';
import { addressFault } from '../../providers/llm/address.js';
import type { Changes } from './contract.js';

const MAX_VALUE_LENGTH = 2000;

export const platformFields = ({ values = {} }: Changes): Map<string, string | null> =>
  new Map(
    Object.entries(values).map(([name, value]) => [name, value === null ? null : String(value)]),
  );

/** null if the value is the secret itself. */
export const credentialIn = (value: string): string | null =>
  /^\$credential\(([\w.-]{1,100})\)$/.exec(value)?.[1] ?? null;

export const platformFaults = (adapter: Adapter, input: Changes): FieldFault[] => {
  const { baseUrl, values = {} } = input;
  const fault = baseUrl == null ? null : faultOfBase(adapter, baseUrl);
  return [
    ...(fault === null ? [] : [{ path: 'baseUrl', message: fault }]),
    ...Object.entries(values).flatMap(([name, value]) => {
      const message = faultOfField(adapter, name, value);
      return message === null ? [] : [{ path: `values.${name}`, message }];
    }),
  ];
};

const faultOfBase = ({ kind, baseUrl }: Adapter, input: string): string | null =>
  baseUrl === '' ? `is not a setting of ${kind}` : addressFault(input);

const faultOfField = ({ kind, fields }: Adapter, name: string, value: unknown): string | null => {
  const field = fields.find((one) => one.name === name);
  if (!field) {
    const names = fields.map((one) => one.name).join(', ');
    return `is not a field of ${kind}. Fields: ${names}`;
  }
  if (value === null) return null;
  if (typeof value !== 'string') return 'must be a string, or null to delete the value';
  if (value.trim() === '' || value.length > MAX_VALUE_LENGTH)
    return `must have 1 to ${MAX_VALUE_LENGTH} characters`;
  if (/\p{Cc}/u.test(value)) return 'must be one line without control characters';
  if (field.isSecret && credentialIn(value) !== null) return null;
  const fault = field.isSecret ? faultOfHeaderValue(value) : null;
  if (fault !== null) return fault;
  return field.form && !field.form.pattern.test(value) ? field.form.fault : null;
};
