import type { XmlAttributes, XmlVisitor } from './xmlwalk.js';

type IsLeftOut = (name: string, attributes: XmlAttributes, parent: string) => boolean;

/**
 * Returns a visitor for all but the elements that are left out. Of alternatives for several programs
 * (ECMA-376-3, mc:AlternateContent), which say the same, only the first is visited.
 */
export const withoutElements = (visitor: XmlVisitor, isLeftOut: IsLeftOut): XmlVisitor => {
  /** The number of open elements from the one on that is left out. */
  let depth = 0;
  /** True of each open mc:AlternateContent once it has had an alternative. */
  const alternatives: boolean[] = [];
  const isSecond = (name: string): boolean => {
    if (name !== 'Choice' && name !== 'Fallback') return false;
    const hadOne = alternatives.pop() ?? false;
    alternatives.push(true);
    return hadOne;
  };

  return {
    ...visitor,
    open: (name, attributes, parent) => {
      if (depth > 0 || isSecond(name) || isLeftOut(name, attributes, parent)) {
        depth++;
        return;
      }
      if (name === 'AlternateContent') alternatives.push(false);
      visitor.open?.(name, attributes, parent);
    },
    text: (text) => {
      if (depth === 0) visitor.text?.(text);
    },
    close: (name) => {
      if (depth > 0) {
        depth--;
        return;
      }
      if (name === 'AlternateContent') alternatives.pop();
      visitor.close?.(name);
    },
  };
};
