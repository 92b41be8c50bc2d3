import type { Toolbox } from './toolbox.js';

/**
 * What is wrong with names that grant tools, each with its place in the list; `others` grant something
 * else, and are right as they are.
 */
export const faultsOfTools = (
  toolbox: Pick<Toolbox, 'list'>,
  names: string[],
  others: string[] = [],
): { at: number; message: string }[] => {
  const tools = toolbox.list();
  // A tool as `http.request`, or all of a skill as `http`.
  const known = tools.map(({ skillId, name }) => `${skillId}.${name}`);
  const granting = new Set([...known, ...tools.map(({ skillId }) => skillId), ...others]);
  return names.flatMap((name, at) =>
    granting.has(name)
      ? []
      : [{ at, message: `names no tool; there are: ${known.join(', ').slice(0, LONGEST)}` }],
  );
};

/** Of a list that grows with what is connected. */
const LONGEST = 700;
