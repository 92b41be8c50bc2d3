import type { Toolbox } from './toolbox.js';

/**
 * Returns the faults of names that grant tools, each with its place in the list. The names in
 * `others` grant something else and are always valid.
 */
export const faultsOfTools = (
  toolbox: Pick<Toolbox, 'list'>,
  names: string[],
  others: string[] = [],
): { at: number; message: string }[] => {
  const tools = toolbox.list();
  // A tool such as `http.request`, or all tools of a skill, such as `http`.
  const known = tools.map(({ skillId, name }) => `${skillId}.${name}`);
  const granting = new Set([...known, ...tools.map(({ skillId }) => skillId), ...others]);
  return names.flatMap((name, at) =>
    granting.has(name)
      ? []
      : [{ at, message: `names no tool; there are: ${known.join(', ').slice(0, LONGEST)}` }],
  );
};

/** The most characters of a list that grows with the connected servers. */
const LONGEST = 700;
