import type { XmlAttributes, XmlVisitor } from './xmlwalk.js';

type IsLeftOut = (name: string, attributes: XmlAttributes, parent: string) => boolean;

/**
 * Returns a visitor that skips some elements. Of equivalent alternatives (ECMA-376-3,
 * mc:AlternateContent) only the first is visited.
 */
export const withoutElements = (visitor: XmlVisitor, isLeftOut: IsLeftOut): XmlVisitor => {
  let depth = 0;
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
