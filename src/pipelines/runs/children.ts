import { iso } from '../../kernel/clock.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { DEEPEST_NESTING, type FindTemplate } from '../templates/nestedtemplates.js';
import { givenParameters } from '../templates/parameters.js';
import { MOST_ITEMS } from '../templates/stagekinds.js';
import type { BeginStage } from './begin.js';
import type { ChildRunsStore } from './childqueries.js';
import { itemRunRows, nestedRunRows } from './newrun.js';
import { StageFault } from './outcome.js';
import { recordOf, renderConfig } from './render.js';

interface ForeachDeps {
  children: ChildRunsStore;
  now(): number;
  /** Begins what may begin of the runs of a stage. */
  goOn(runId: string, key: string): void;
}

export interface NestedDeps extends ForeachDeps {
  template: FindTemplate;
}

/** Creates the beginning of stages `pipeline`: one transaction has the run that it begins. */
export const createNestedBeginning =
  ({ children, now, template: find, goOn }: NestedDeps): BeginStage =>
  async (of, scope) => {
    const { run, stage } = of;
    const { templateId, params } = stage.config;
    const template = await find(run.row.user_id, `${templateId}`);
    if (!template) throw new StageFault(`There is no template ${templateId}`);
    if (run.row.depth >= DEEPEST_NESTING) {
      throw new StageFault(`Pipelines may contain each other ${DEEPEST_NESTING} deep`);
    }
    const given = recordOf(renderConfig(params ?? {}, scope));
    const { values, faults } = givenParameters(template.parameters, given);
    const [fault] = faults;
    if (fault) throw new StageFault(`${fault.path} ${fault.message}`);
    const rows = nestedRunRows(of, { template, values, now: now() });
    const input = { templateId, params: values, runId: rows.row.id };
    return {
      change: { status: 'running', input: JSON.stringify(input) },
      steps: children.insert(rows),
      begun: () => goOn(run.row.id, stage.key),
    };
  };

/** Creates the beginning of stages `foreach`: one transaction has a run for each item that is not done. */
export const createForeachBeginning =
  ({ children, now, goOn }: ForeachDeps): BeginStage =>
  async (of, scope) => {
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
    const steps = items.flatMap((item, index): TransactionStep[] => {
      const earlier = done.get(index);
      return earlier?.item === JSON.stringify(item)
        ? [children.adopt(earlier.id, row)]
        : children.insert(itemRunRows(of, { at: index, item, now: at }));
    });
    return {
      change: { status: 'running', input },
      steps,
      begun: () => goOn(run.row.id, stage.key),
    };
  };

const NEVER_DUE = { due: null, due_at: null };

const listIn = (value: unknown): unknown[] => {
  if (!Array.isArray(value)) throw new StageFault('items is no list');
  if (value.length <= MOST_ITEMS) return value;
  throw new StageFault(`items has ${value.length} items, and ${MOST_ITEMS} are allowed`);
};
