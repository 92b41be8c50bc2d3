import { judgeConditions, lookUp, placeholdersIn, renderDeep } from '../../hooks/module.js';
import type { TemplateStage } from '../templates/contract.js';
import type { LoadedRun } from './run.js';

/** The values that the texts of a stage may name. */
interface StageScope {
  params: Record<string, unknown>;
  stages: Record<string, { output: unknown; status: string; error: string | null }>;
  run: { id: string };
  item?: unknown;
}

/** Returns the values of a run as it is now. Those of an item are the ones around it, and the item. */
export const valuesOfRun = ({ row, params, stages, outer }: LoadedRun): StageScope =>
  outer
    ? { ...valuesOfRun(outer), item: JSON.parse(row.item ?? 'null') }
    : ownValues({ row, params, stages });

const ownValues = ({ row, params, stages }: Omit<LoadedRun, 'outer' | 'template'>): StageScope => ({
  params,
  stages: Object.fromEntries(
    [...stages].map(([key, { output, status, error }]) => [
      key,
      { output: output === null ? null : JSON.parse(output), status, error },
    ]),
  ),
  run: { id: row.id },
});

/**
 * Fills in the values inside a configuration. A text that is one value and nothing else becomes that
 * value, so that a number stays a number; in any other text it is written out.
 */
export const renderConfig = (value: unknown, scope: object): unknown => {
  if (typeof value === 'string') return renderText(value, scope);
  if (Array.isArray(value)) return value.map((each) => renderConfig(each, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, renderConfig(each, scope)]),
  );
};

const renderText = (text: string, scope: object): unknown => {
  const [name] = placeholdersIn(text);
  const isWhole = name !== undefined && /^\{\{[^{}]+\}\}$/.test(text.trim());
  const found = isWhole ? lookUp(scope, name) : undefined;
  return found === undefined ? renderDeep(text, scope) : found;
};

/** Fills in the values inside a text. */
export const renderProse = (text: unknown, scope: object): string =>
  String(renderDeep(String(text), scope));

/** Returns why the conditions of a stage do not hold; null if they do. */
export const stoppedBy = ({ when = [] }: TemplateStage, scope: object): string | null => {
  const verdict = judgeConditions(when, scope);
  return verdict.verdict === 'hold' ? null : verdict.reason;
};
