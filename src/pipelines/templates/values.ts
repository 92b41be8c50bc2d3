import { placeholdersIn } from '../../hooks/module.js';

/** A value that a stage names, with the path of the text in which it stands. */
export interface NamedValue {
  path: string;
  name: string;
}

/** Finds the values that the texts inside a JSON value name, each as `{{stages.draft.output}}`. */
export const valuesIn = (value: unknown, path: string): NamedValue[] => {
  if (typeof value === 'string') return placeholdersIn(value).map((name) => ({ path, name }));
  if (Array.isArray(value)) return value.flatMap((each, at) => valuesIn(each, `${path}.${at}`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => valuesIn(each, `${path}.${key}`));
};

/** A value of another stage: its key, and what of it. */
export interface StageValue {
  key: string;
  of: string;
}

/** Splits `stages.draft.output.title`; null if the name is not of a stage. */
export const stageValueIn = (name: string): StageValue | null => {
  const [root, key, of] = name.split('.');
  return root === 'stages' && key !== undefined && of !== undefined ? { key, of } : null;
};
