import {
  judgeConditions,
  lookUp,
  placeholdersIn,
  renderDeep,
  renderMarkdown,
} from '../../hooks/module.js';
import { parseExact, stringifyExact, withoutExactNumbers } from '../../kernel/exactjson.js';
import { isRecord } from '../../kernel/jsonvalue.js';
import type { TemplateStage } from '../templates/contract.js';
import { stageValueIn, valuesIn } from '../templates/values.js';
import { StageFault } from './outcome.js';
import type { LoadedRun } from './run.js';

/** The values that the texts of a stage may name. */
interface StageScope {
  params: Record<string, unknown>;
  stages: Record<string, { output: unknown; status: string; error: string | null }>;
  run: { id: string };
  item?: unknown;
}

/**
 * Returns the values that the texts of a stage name, as they are now. Those of an item are the ones
 * around it, and the item. No other outputs are read, since they may be long.
 */
export const valuesOf = (run: LoadedRun, { config, when = [] }: NamingStage): StageScope => {
  const named = [
    ...valuesIn(config, '').map(({ name }) => name),
    ...when.map(({ field }) => field),
  ];
  const keys = new Set(named.map((name) => stageValueIn(name)?.key));
  return scopeOf(run, (key) => keys.has(key));
};

type NamingStage = Pick<TemplateStage, 'config' | 'when'>;

const scopeOf = (
  { row, params, stages, outer }: LoadedRun,
  isNamed: (key: string) => boolean,
): StageScope => {
  if (outer) return { ...scopeOf(outer, isNamed), item: JSON.parse(row.item ?? 'null') };
  const named = [...stages].filter(([key]) => isNamed(key));
  return {
    params,
    stages: Object.fromEntries(
      named.map(([key, row]) => [
        key,
        {
          output: row.output === null ? null : parseExact(row.output),
          status: row.status,
          // One that was skipped tells what kept it from running.
          error: row.error ?? (row.status === 'skipped' ? row.reason : null),
        },
      ]),
    ),
    run: { id: row.id },
  };
};

/** Ours: the most characters that a stage works with, or has as its output, as JSON. */
export const MAX_INPUT_LENGTH = 1024 * 1024;

/**
 * Fills in the values inside a configuration. A text that is one value and nothing else becomes that
 * value, so that a number stays a number; in any other text it is written out. Throws StageFault if
 * the result is too long.
 */
export const renderConfig = (value: unknown, scope: object): unknown =>
  withoutExactNumbers(renderExact(value, scope));

/** Does the same, with numbers as they were received. */
export const renderExact = (value: unknown, scope: object): unknown => {
  let left = MAX_INPUT_LENGTH;
  const counted = (rendered: unknown): unknown => {
    left -= stringifyExact(rendered)?.length ?? 0;
    if (left < 0) throw new StageFault(TOO_LONG);
    return rendered;
  };
  const render = (part: unknown): unknown => {
    if (typeof part === 'string') return counted(renderText(part, scope));
    if (Array.isArray(part)) return part.map(render);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, render(each)]));
  };
  return render(value);
};

const TOO_LONG = 'The input exceeds 1,048,576 characters after its values are filled in';

const renderText = (text: string, scope: object): unknown => {
  refuseMissing(text, scope);
  const [name] = placeholdersIn(text);
  const isWhole = name !== undefined && /^\{\{[^{}]+\}\}$/.test(text.trim());
  const found = isWhole ? lookUp(scope, name) : undefined;
  // Where no error is, there is no text of one either.
  if (found === null && ERROR.test(name ?? '')) return '';
  return found === undefined ? renderWhole(text, scope) : found;
};

const ERROR = /^stages\.[^.]+\.error$/;
const VALUE = /^(params|stages|item|run)(\.|$)/;

/** Refuses values that the run does not have: a name in braces is of no use to anybody. */
const refuseMissing = (text: string, scope: object): void => {
  const missing = placeholdersIn(text).find(
    (name) => VALUE.test(name) && lookUp(scope, name) === undefined,
  );
  if (missing !== undefined) throw new StageFault(`{{${missing}}} has no value in this run`);
};

/** Ours: the most characters of values in one text; the rest would be left out. */
const MAX_TEXT_LENGTH = 256 * 1024;

/** Writes out the values inside a text, all of them. Throws StageFault if they are too long. */
const renderWhole = (text: string, scope: object): string => {
  const lengths = placeholdersIn(text).map((name) => lengthOf(lookUp(scope, name)));
  if (lengths.reduce((all, length) => all + length, 0) > MAX_TEXT_LENGTH) {
    throw new StageFault(`The values in one text exceed ${MAX_TEXT_LENGTH} characters`);
  }
  return String(renderDeep(text, scope));
};

const lengthOf = (value: unknown): number =>
  typeof value === 'string' ? value.length : (stringifyExact(value)?.length ?? 0);

/** Returns the fields of a rendered value; none if it is no object. */
export const recordOf = (value: unknown): Record<string, unknown> =>
  isRecord(value) ? { ...value } : {};

/** Fills in the values inside a text. */
export const renderProse = (text: unknown, scope: object): string => {
  refuseMissing(String(text), scope);
  return renderWhole(String(text), scope);
};

/**
 * Fills in the values inside a text that is Markdown. They are escaped, but for the text of an agent
 * and for research, which are Markdown themselves.
 */
export const renderMarkdownText = (text: string, run: LoadedRun, scope: object): string => {
  const { template } = outermost(run);
  const isMarkdown = (name: string): boolean => {
    const value = stageValueIn(name);
    const stage = template.stages.find(({ key }) => key === value?.key);
    if (value?.of !== 'output') return false;
    return stage?.kind === 'research' || (stage?.kind === 'agent' && stage.output === undefined);
  };
  return renderMarkdown(text, scope, isMarkdown);
};

const outermost = (run: LoadedRun): LoadedRun => (run.outer ? outermost(run.outer) : run);

/** Returns why the conditions of a stage do not hold; null if they do. */
export const stoppedBy = ({ when = [] }: TemplateStage, scope: object): string | null => {
  const verdict = judgeConditions(when, scope);
  return verdict.verdict === 'hold' ? null : verdict.reason;
};
