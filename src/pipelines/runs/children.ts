import { iso } from '../../kernel/clock.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { type FindTemplate, MAX_NESTING } from '../templates/nestedtemplates.js';
import { resolveParameters } from '../templates/parameters.js';
import { MAX_ITEMS } from '../templates/stagekinds.js';
import type { BeginStage } from './begin.js';
import type { ChildRunsStore, ChildrenOf, UnfinishedRun } from './childqueries.js';
import { itemRunRows, type NewRunRows, nestedRunRows } from './newrun.js';
import { StageError } from './outcome.js';
import { asRecord, renderConfig } from './render.js';
import { type ReopenDeps, reopenSteps } from './reopen.js';

interface ForeachDeps extends ReopenDeps {
  children: ChildRunsStore;
  now(): number;
  goOn(runId: string, key: string): void;
}

export interface NestedDeps extends ForeachDeps {
  template: FindTemplate;
}

/** Inserts the nested run in the transaction that starts the stage. */
export const createNestedBeginning =
  (deps: NestedDeps): BeginStage =>
  async (of, scope) => {
    const { children, now, template: find, goOn } = deps;
    const { run, stage, row } = of;
    const { templateId, params } = stage.config;
    const template = await find(run.row.user_id, `${templateId}`);
    if (!template)
      throw new StageError(
        `Unknown template: ${templateId}. Correct templateId of the stage in the template`,
      );
    if (run.row.depth >= MAX_NESTING) {
      throw new StageError(`Pipelines must not be nested more than ${MAX_NESTING} levels deep`);
    }
    const renderedParams = asRecord(renderConfig(params ?? {}, scope));
    const { values, faults } = resolveParameters(template.parameters, renderedParams);
    const [fault] = faults;
    if (fault)
      throw new StageError(
        `${fault.path} ${fault.message}. Correct the params of this stage in the template`,
      );
    const { runId, steps } =
      (await reopened(deps, row, ({ params }) => params === JSON.stringify(values))) ??
      inserted(children, nestedRunRows(of, { template, values, now: now() }));
    const input = { templateId, params: values, runId };
    return {
      change: { status: 'running', input: JSON.stringify(input) },
      steps,
      begun: () => goOn(run.row.id, stage.key),
    };
  };

/** Inserts a run for each unfinished item in the transaction that starts the stage. */
export const createForeachBeginning =
  (deps: ForeachDeps): BeginStage =>
  async (of, scope) => {
    const { children, now, goOn } = deps;
    const { run, stage, row } = of;
    const items = listIn(renderConfig(stage.config.items, scope));
    const at = now();
    const input = JSON.stringify({ items });
    if (items.length === 0) {
      return {
        change: { status: 'completed', input, output: '[]', finished_at: iso(at), ...NEVER_DUE },
      };
    }
    const done = new Map<number | null, { id: string; item: string | null }>();
    for (const each of await children.doneItems(row)) done.set(each.item_at, each);
    const begun = await unfinishedItems(deps, row);
    const steps = items.flatMap((item, index): TransactionStep[] => {
      const earlier = done.get(index);
      const text = JSON.stringify(item);
      if (earlier?.item === text) return [children.adopt(earlier.id, row)];
      return (
        begun.get(`${index} ${text}`) ??
        children.insert(itemRunRows(of, { at: index, item, now: at }))
      );
    });
    return {
      change: { status: 'running', input },
      steps,
      begun: () => goOn(run.row.id, stage.key),
    };
  };

const inserted = (children: ChildRunsStore, rows: NewRunRows): BegunRun => ({
  runId: rows.row.id,
  steps: children.insert(rows),
});

interface BegunRun {
  runId: string;
  steps: TransactionStep[];
}

/** Reopens the newest matching run of an earlier attempt. Resolves to null if there is none. */
const reopened = async (
  deps: ForeachDeps,
  row: ChildrenOf,
  fits: (run: UnfinishedRun) => boolean,
): Promise<BegunRun | null> => {
  const runId = (await deps.children.unfinished(row)).filter(fits).at(-1)?.id;
  const steps = runId === undefined ? null : await reopenSteps(deps, runId, row);
  return runId === undefined || steps === null ? null : { runId, steps };
};

const unfinishedItems = async (
  deps: ForeachDeps,
  row: ChildrenOf,
): Promise<Map<string, TransactionStep[]>> => {
  const steps = new Map<string, TransactionStep[]>();
  for (const { id, item_at, item } of await deps.children.unfinished(row)) {
    const again = await reopenSteps(deps, id, row);
    if (again) steps.set(`${item_at} ${item}`, again);
  }
  return steps;
};

const NEVER_DUE = { due: null, due_at: null };

const listIn = (value: unknown): unknown[] => {
  if (!Array.isArray(value))
    throw new StageError('items must be a list. Correct items in the template');
  if (value.length <= MAX_ITEMS) return value;
  throw new StageError(
    `items has ${value.length} elements. The maximum is ${MAX_ITEMS}. Split the list`,
  );
};
