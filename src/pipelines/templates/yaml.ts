import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  stringify,
  visit,
  type YAMLMap,
} from 'yaml';
import type { FieldFault } from '../../kernel/problem.js';
import type { PipelineTemplate } from './contract.js';

/** Line in the YAML from 1, if known. */
export interface FaultWithLine extends FieldFault {
  line?: number;
}

export type ParsedYaml = ReadableYaml | { value: null; faults: FaultWithLine[] };

export interface ReadableYaml {
  value: unknown;
  faults: [];
  lineOf(path: string): number | undefined;
  /** Unquoted scalars that are not strings, by path. */
  spellings: ReadonlyMap<string, Spelling>;
}

export interface Spelling {
  source: string;
  value: unknown;
}

/** A larger document is rejected. */
const MAX_NODES = 20_000;

/**
 * Reads YAML 1.2, which includes JSON. Aliases are rejected, because a few of them can expand to
 * gigabytes.
 */
export const parseTemplateYaml = (text: string): ParsedYaml => {
  const lines = new LineCounter();
  // The parser would compare each key with all others of its map. Duplicates are detected below.
  const options = { stringKeys: true, merge: false, uniqueKeys: false };
  const document = parseDocument(text, { lineCounter: lines, ...options });
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0) {
    const faults = errors.slice(0, 20).map(({ message, linePos }) => ({
      path: '',
      message: syntaxMessage(message),
      ...(linePos && { line: linePos[0].line }),
    }));
    return { value: null, faults };
  }
  const refused = refusedPart(document, lines);
  if (refused) return { value: null, faults: [refused] };
  return {
    value: document.toJS({ maxAliasCount: 0 }),
    faults: [],
    lineOf: (path) => findLineNumber(document, lines, path.split('.')),
    spellings: spellingsIn(document),
  };
};

const spellingsIn = (document: Document): Map<string, Spelling> => {
  const found = new Map<string, Spelling>();
  const open: [path: string, node: unknown][] = [['', document.contents]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [path, node] = next;
    // The stack is last in, first out, so members are reversed to keep their order.
    open.push(...listMembers(node).reverse().map(nested(path)));
    if (isScalar(node) && typeof node.value !== 'string' && node.source !== undefined) {
      found.set(path, { source: node.source, value: node.value });
    }
  }
  return found;
};

const listMembers = (node: unknown): [key: unknown, value: unknown][] => {
  if (isMap(node))
    return node.items.map(({ key, value }) => [isScalar(key) ? key.value : key, value]);
  return isSeq(node) ? node.items.map((item, at) => [at, item]) : [];
};

const nested =
  (path: string) =>
  ([key, value]: [unknown, unknown]): [string, unknown] => [
    path === '' ? `${key}` : `${path}.${key}`,
    value,
  ];

const syntaxMessage = (message: string): string => {
  if (message.includes('call stack')) return 'is nested too deeply';
  const [first = ''] = message.split('\n', 1);
  return `is not valid YAML: ${first.replace(/ at line \d+, column \d+:?$/, '')}`;
};

const refusedPart = (document: Document, lines: LineCounter): FaultWithLine | null => {
  let nodes = 0;
  let refused: FaultWithLine | null = null;
  visit(document, {
    Node: (_, node) => {
      nodes++;
      const [start = 0] = node.range ?? [];
      const at = { path: '', line: lines.linePos(start).line };
      if (isAlias(node))
        refused = { ...at, message: `must not contain aliases such as *${node.source}` };
      if (nodes > MAX_NODES)
        refused = { ...at, message: `must not contain more than ${MAX_NODES} values` };
      if (isMap(node)) refused ??= refusedKey(node, lines);
      return refused ? visit.BREAK : undefined;
    },
  });
  return refused;
};

/** Finds a duplicate key, or `__proto__`. */
const refusedKey = ({ items }: YAMLMap, lines: LineCounter): FaultWithLine | null => {
  const keys = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    const at = { path: '', line: lines.linePos(key.range?.[0] ?? 0).line };
    if (key.value === '__proto__') return { ...at, message: 'must not contain the key __proto__' };
    if (keys.has(key.value)) return { ...at, message: `contains the key ${key.value} twice` };
    keys.add(key.value);
  }
  return null;
};

/** Returns the line of a path, or of its nearest existing parent. */
const findLineNumber = (
  document: Document,
  lines: LineCounter,
  path: string[],
): number | undefined => {
  for (let depth = path.length; depth > 0; depth--) {
    const keys = path.slice(0, depth).map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
};

export const formatTemplateYaml = (template: PipelineTemplate): string => {
  const { name, description, parameters, stages, limits, onFinish } = template;
  const written = {
    name,
    ...(description !== null && { description }),
    ...(parameters.length > 0 && { parameters }),
    stages,
    limits,
    onFinish,
  };
  return stringify(written, { lineWidth: 100, aliasDuplicateObjects: false });
};
