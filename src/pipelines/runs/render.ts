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
import { findNamedValues, parseStageValue } from '../templates/values.js';
import { StageError } from './outcome.js';
import type { LoadedRun } from './run.js';

interface StageScope {
  params: Record<string, unknown>;
  stages: Record<string, { output: unknown; status: string; error: string | null }>;
  run: { id: string };
  item?: unknown;
}

/** Reads only the outputs that the stage uses, because outputs may be long. */
export const stageValues = (run: LoadedRun, { config, when = [] }: NamingStage): StageScope => {
  const named = [
    ...findNamedValues(config, '').map(({ name }) => name),
    ...when.map(({ field }) => field),
  ];
  const keys = new Set(named.map((name) => parseStageValue(name)?.key));
  return buildStageScope(run, (key) => keys.has(key));
};

type NamingStage = Pick<TemplateStage, 'config' | 'when'>;

const buildStageScope = (
  { row, params, stages, outer }: LoadedRun,
  isNamed: (key: string) => boolean,
): StageScope => {
  if (outer) return { ...buildStageScope(outer, isNamed), item: JSON.parse(row.item ?? 'null') };
  const named = [...stages].filter(([key]) => isNamed(key));
  return {
    params,
    stages: Object.fromEntries(
      named.map(([key, row]) => [
        key,
        {
          output: row.output === null ? null : parseExact(row.output),
          status: row.status,
          // The error of a skipped stage is the reason for skipping.
          error: row.error ?? (row.status === 'skipped' ? row.reason : null),
        },
      ]),
    ),
    run: { id: row.id },
  };
};

/** Maximum length of the input of a stage, as JSON. */
export const MAX_INPUT_LENGTH = 1024 * 1024;

/**
 * Inserts values into a configuration. A string that is one value becomes that value and keeps its
 * type. Throws StageError if the result is too long.
 */
export const renderConfig = (value: unknown, scope: object): unknown =>
  withoutExactNumbers(renderExact(value, scope));

/** Like `renderConfig`, but numbers keep their digits. */
export const renderExact = (value: unknown, scope: object): unknown => {
  let left = MAX_INPUT_LENGTH;
  const counted = (rendered: unknown): unknown => {
    left -= stringifyExact(rendered)?.length ?? 0;
    if (left < 0) throw new StageError(TOO_LONG);
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
  // A missing error is an empty string.
  if (found === null && ERROR.test(name ?? '')) return '';
  return found === undefined ? renderWhole(text, scope) : found;
};

const ERROR = /^stages\.[^.]+\.error$/;
const VALUE = /^(params|stages|item|run)([.[]|$)/;

/** A missing value is an error, because a literal placeholder is useless. */
const refuseMissing = (text: string, scope: object): void => {
  const missing = placeholdersIn(text).find(
    (name) => VALUE.test(name) && lookUp(scope, name) === undefined,
  );
  if (missing !== undefined)
    throw new StageError(
      `{{${missing}}} has no value in this run. Correct the placeholder in the template, or provide the value in the parameters or in the output of an earlier stage`,
    );
};

/** Longer values are rejected instead of cut. */
const MAX_TEXT_LENGTH = 256 * 1024;

const renderWhole = (text: string, scope: object): string => {
  const lengths = placeholdersIn(text).map((name) => computeTextLength(lookUp(scope, name)));
  if (lengths.reduce((all, length) => all + length, 0) > MAX_TEXT_LENGTH) {
    throw new StageError(
      `The rendered text exceeds ${MAX_TEXT_LENGTH} characters. Use shorter values`,
    );
  }
  return String(renderDeep(text, scope));
};

const computeTextLength = (value: unknown): number =>
  typeof value === 'string' ? value.length : (stringifyExact(value)?.length ?? 0);

export const asRecord = (value: unknown): Record<string, unknown> =>
  isRecord(value) ? { ...value } : {};

export const renderProse = (text: unknown, scope: object): string => {
  refuseMissing(String(text), scope);
  return renderWhole(String(text), scope);
};

/** Values are escaped, except the output of agents and research, which is Markdown. */
export const renderMarkdownText = (text: string, run: LoadedRun, scope: object): string => {
  const { template } = outermost(run);
  const isMarkdown = (name: string): boolean => {
    const value = parseStageValue(name);
    const stage = template.stages.find(({ key }) => key === value?.key);
    if (value?.of !== 'output') return false;
    return stage?.kind === 'research' || (stage?.kind === 'agent' && stage.output === undefined);
  };
  return renderMarkdown(text, scope, isMarkdown);
};

const outermost = (run: LoadedRun): LoadedRun => (run.outer ? outermost(run.outer) : run);

export const unmetCondition = ({ when = [] }: TemplateStage, scope: object): string | null => {
  const verdict = judgeConditions(when, scope);
  return verdict.verdict === 'hold' ? null : verdict.reason;
};
