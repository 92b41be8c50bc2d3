import { isOver } from '../../../cli/operations/bar.js';
import type { Capability, ModelFit, Operation } from '../../../src/client/index.js';
import { type CapabilityItem, capabilitySlug, HARDWARE } from '../../state/capabilities.js';
import { listRows } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { progressPercent } from '../operations/operations.js';

export interface CapabilityRow {
  item: CapabilityItem;
  /** `null` if it is not a model, or the fit is not known yet. */
  fit: ModelFit | null;
  operation: Operation | null;
}

const KINDS: readonly Capability['kind'][] = ['model', 'engine', 'tool', 'runtime', 'language'];

export const usingModels = ({ usedBy }: Capability): string[] =>
  usedBy.flatMap((each) => (each.startsWith('models/') ? [each.slice('models/'.length)] : []));

/** The measurement of a model counts for the capability that the model uses. */
const isOn = (item: CapabilityItem, { kind, resource }: Operation): boolean => {
  if (!kind.startsWith('capabilities.')) return false;
  if (resource.kind === 'capability') return capabilitySlug(resource.id) === item.id;
  return item.kind === 'model' && usingModels(item).includes(resource.id);
};

/**
 * Order: installed models and engines, running installations, first choices among the models, other
 * installed capabilities, other models that fit, other installable ones, the rest.
 */
export const capabilityRows = ({ lists }: State): CapabilityRow[] => {
  const fits = new Map(
    lists.hardware.byId[HARDWARE]?.fit.map((fit) => [capabilitySlug(fit.model), fit]),
  );
  const operations = listRows(lists.operations);
  const rows = listRows(lists.capabilities).map((item) => ({
    item,
    fit: fits.get(item.id) ?? null,
    operation: operations.find((each) => isOn(item, each)) ?? null,
  }));
  return rows.toSorted(
    (one, other) =>
      computeRowRank(one) - computeRowRank(other) ||
      KINDS.indexOf(one.item.kind) - KINDS.indexOf(other.item.kind) ||
      Number(isFirst(other)) - Number(isFirst(one)),
  );
};

const computeRowRank = (row: CapabilityRow): number => {
  const { kind, status, install } = row.item;
  const { fit, operation } = row;
  const isHere = status === 'available' || status === 'degraded';
  if (isHere && (kind === 'model' || kind === 'engine')) return 0;
  if (status === 'installing' || (operation && !isOver(operation))) return 1;
  if (isHere) return 3;
  if (install === null) return 6;
  if (!fit || fit.runsOn === 'none') return 5;
  return isFirst(row) ? 2 : 4;
};

const isFirst = ({ fit }: CapabilityRow): boolean => (fit?.recommendedFor.length ?? 0) > 0;

const DOES: Readonly<Record<string, string>> = {
  'capabilities.install': 'installing',
  'capabilities.verify': 'verifying',
  'capabilities.measure': 'measuring',
};

/** Current activity, such as `installing 40 %`; else the status. */
export const capabilityState = ({ lists }: State, row: CapabilityRow): string => {
  const { item, operation } = row;
  const busy = lists.capabilities.busy[item.id];
  if (busy !== undefined) return busy;
  const word = operation && !isOver(operation) ? DOES[operation.kind] : undefined;
  if (!operation || word === undefined) return item.status;
  return `${word} ${progressPercent(operation)}`.trim();
};

/** Installed by this daemon, in a folder of its own. Only admins see the path. */
export const isInstalledByDaemon = ({
  apiId,
  kind,
  status,
  path,
}: Capability & { apiId: string }): boolean =>
  ['model', 'engine', 'language'].includes(kind) &&
  ['available', 'degraded'].includes(status) &&
  path !== null &&
  apiId !== 'ollama';

export const isOllamaModel = ({ apiId, kind, status }: Capability & { apiId: string }): boolean =>
  kind === 'model' && status === 'available' && apiId.startsWith('ollama-');
