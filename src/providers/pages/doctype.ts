import { PageUnreadable } from './page.js';

/** Real feeds declare a few characters and names. */
const MAX_DEPTH = 4;
const MAX_ADDED = 1_000_000;
/** Comments and instructions before the declaration are within this length. */
const MAX_PROLOG = 10_000;

const PROLOG = /^\s*(?:<\?(?:(?!\?>)[\s\S])*\?>\s*|<!--(?:(?!-->)[\s\S])*-->\s*)*(?=<!DOCTYPE\s)/i;
const TOKEN = /<!--[\s\S]*?(?:-->|$)|"[^"]*(?:"|$)|'[^']*(?:'|$)|[[\]>]|[^"'<[\]>]+|</y;
const ENTITY = /<!ENTITY\s+([\w.:-]+)\s+(?:"([^"]*)"|'([^']*)')\s*>/g;
/** Entities are not replaced in comments and CDATA sections (XML 1.0, 4.4). */
const REFERENCE = /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|&([\w.:-]+);/g;

/**
 * Removes the document type declaration, and replaces the entities that it declares with a text.
 * External entities and parameter entities are not read. Throws PageUnreadable if the text grows
 * too much.
 */
export const expandDoctype = (xml: string): string => {
  const { rest, entities } = splitDoctype(xml);
  if (entities.size === 0) return rest;
  let room = MAX_ADDED;
  const expand = (text: string, depth: number): string =>
    text.replace(REFERENCE, (whole, name?: string) => {
      const value = name === undefined ? undefined : entities.get(name);
      if (value === undefined || depth > MAX_DEPTH) return whole;
      room -= value.length;
      if (room < 0) throw new PageUnreadable('defines XML entities that are too long', 'feed');
      return expand(value, depth + 1);
    });
  return expand(rest, 1);
};

export const withoutDoctype = (xml: string): string => splitDoctype(xml).rest;

const splitDoctype = (xml: string): { rest: string; entities: Map<string, string> } => {
  const prolog = PROLOG.exec(xml.slice(0, MAX_PROLOG));
  if (!prolog) return { rest: xml, entities: new Map() };
  const declarations: string[] = [];
  let isInSubset = false;
  TOKEN.lastIndex = prolog[0].length;
  for (let token = TOKEN.exec(xml)?.[0]; token !== undefined; token = TOKEN.exec(xml)?.[0]) {
    if (token === '>' && !isInSubset) break;
    if (token === '[') isInSubset = true;
    else if (token === ']') isInSubset = false;
    else if (isInSubset && !token.startsWith('<!--')) declarations.push(token);
  }
  const entities = [...declarations.join('').matchAll(ENTITY)].map(
    ([, name = '', double, single]): [string, string] => [name, double ?? single ?? ''],
  );
  // The first declaration of a name is valid (XML 1.0, 4.2).
  return {
    rest: prolog[0] + xml.slice(TOKEN.lastIndex),
    entities: new Map(entities.reverse()),
  };
};
