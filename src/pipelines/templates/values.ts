import { placeholdersIn, splitPath } from '../../hooks/module.js';

export interface NamedValue {
  path: string;
  name: string;
}

export const findNamedValues = (value: unknown, path: string): NamedValue[] => {
  if (typeof value === 'string') return placeholdersIn(value).map((name) => ({ path, name }));
  if (Array.isArray(value))
    return value.flatMap((each, at) => findNamedValues(each, `${path}.${at}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => findNamedValues(each, `${path}.${key}`));
};

export interface StageValue {
  key: string;
  of: string;
}

/** Splits `stages.draft.output.title`. Returns null for other names. */
export const parseStageValue = (name: string): StageValue | null => {
  const [root, key, of] = splitPath(name);
  return root === 'stages' && key !== undefined && of !== undefined ? { key, of } : null;
};
