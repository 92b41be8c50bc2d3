import { isOver } from '../../../cli/operations/bar.js';
import { sizeText } from '../../../cli/operations/counts.js';
import type { Capability, ModelFit } from '../../../src/client/index.js';
import type { Acts } from '../../page.js';
import { type Act, actTarget } from '../../state/act.js';
import { type CapabilityItem, capabilitySlug } from '../../state/capabilities.js';
import type { State } from '../../state/state.js';
import { possibleActs } from '../list.js';
import { operationActs } from '../operations/operations.js';
import { type CapabilityRow, isInstalledByDaemon, isOllamaModel, usingModels } from './rows.js';

/** Time after a licence question has appeared in which keys have no effect, in milliseconds. */
const DEAD_MS = 700;
const ADMINS_ONLY = 'Only admins can install, measure, verify and delete. Ask an admin';
const PROGRESS = 'started. See the progress in its row or with g o';

type InstallFacts = NonNullable<Capability['install']>;

/** Use case for which a model is registered after the installation. `undefined` if none. */
const modelUseCase = (fit: ModelFit | null): ModelFit['useCases'][number] | undefined =>
  [...(fit?.recommendedFor ?? []), ...(fit?.useCases ?? [])].find((use) => use !== 'speech');

/** Name and URL of a licence. */
export const licenceText = ({ licence, licenceUrl }: InstallFacts): string => {
  if (licence === null) return 'unknown';
  return licenceUrl === null ? licence : `${licence}, ${licenceUrl}`;
};

/** Host of an address, because the whole address is longer than a row. */
const getSourceHost = (source: string): string =>
  URL.canParse(source) && /^https?:/.test(source) ? new URL(source).host : source;

const isDependencyInstalled = ({ lists: { capabilities } }: State, need: string): boolean =>
  capabilities.byId[capabilitySlug(need)]?.status === 'available';

const installAct = ({ item, fit }: CapabilityRow, facts: InstallFacts, state: State): Act => {
  const { id, apiId, name } = item;
  const { bytes, source, mustAccept, warning } = facts;
  const needs = facts.needs.filter((need) => !isDependencyInstalled(state, need));
  const useCase = modelUseCase(fit);
  const use = useCase === undefined ? '' : ` --use-case ${useCase}`;
  const size = bytes === null ? 'unknown size' : sizeText(bytes);
  const misfit = warning ? [warning.message] : fit?.runsOn === 'none' ? [fit.why] : [];
  return {
    ...actTarget('capabilities', id, 'operations'),
    text: `Install ${name}`,
    line: `adjutant capabilities install ${apiId}${use}${mustAccept ? ' --accept-licence' : ''}`,
    doing: 'installing…',
    ask: {
      lines: [
        `Install ${name}? ${size}, from ${getSourceHost(source)}`,
        ...(needs.length > 0 ? [`Required and installed first: ${needs.join(', ')}.`] : []),
        ...(useCase === undefined ? [] : [`It is registered as a model for ${useCase}.`]),
        ...misfit,
        `Licence: ${licenceText(facts)}`,
        ...(mustAccept
          ? ['The licence has its own terms. y confirms that you accept these terms']
          : []),
      ],
      ...(mustAccept && { deadMs: DEAD_MS }),
    },
    call: async ({ capabilities }) => {
      const agreed = mustAccept ? { acceptLicence: true } : {};
      const { title } = await capabilities.install({ body: { id: apiId, useCase, ...agreed } });
      return `${title}: ${PROGRESS}`;
    },
  };
};

const measureAct = ({ id }: CapabilityItem, model: string): Act => ({
  ...actTarget('capabilities', id, 'operations'),
  text: `Measure the speed of ${model}`,
  line: `adjutant capabilities measure ${model}`,
  doing: 'measuring…',
  call: async ({ capabilities }) => {
    const { title } = await capabilities.measure({ body: { model } });
    return `${title}: ${PROGRESS}`;
  },
});

const verifyAct = ({ id, apiId, name }: CapabilityItem): Act => ({
  ...actTarget('capabilities', id, 'operations'),
  text: `Verify the files of ${name}`,
  line: `adjutant capabilities verify ${apiId}`,
  doing: 'verifying…',
  call: async ({ capabilities }) => {
    const { title } = await capabilities.verify({ slug: apiId });
    return `${title}: ${PROGRESS}`;
  },
});

const deleteAct = ({ id, apiId, name, usedBy }: CapabilityItem): Act => {
  const line = `adjutant capabilities delete ${apiId}`;
  return {
    ...actTarget('capabilities', id, 'hardware'),
    text: `Delete ${name}`,
    line,
    doing: 'deleting…',
    ask: { lines: [`Delete ${name} from this machine? Nothing uses it.`] },
    call: async ({ capabilities }) => {
      await capabilities.delete({ slug: apiId });
      return `${name} is deleted`;
    },
    ...(usedBy.length > 0 && {
      refusal: `Used by ${usedBy.join(', ')}. To delete it and stop these models: ${line} --force`,
    }),
  };
};

export const capabilityActs = (row: CapabilityRow, state: State): Acts => {
  const { item, operation } = row;
  const { install, status, kind } = item;
  const isBusy = status === 'installing' || (operation !== null && !isOver(operation));
  const [model] = kind === 'model' ? usingModels(item) : [];
  const acts = possibleActs<Act>({
    message: !isBusy && install !== null && installAct(row, install, state),
    mark: !isBusy && model !== undefined && measureAct(item, model),
    check: !isBusy && isInstalledByDaemon(item) && verifyAct(item),
    stop: operation && operationActs(operation).stop,
    delete: !isBusy && (isInstalledByDaemon(item) || isOllamaModel(item)) && deleteAct(item),
  });
  return state.session.who?.role === 'user' ? refused(acts) : acts;
};

const refused = (acts: Acts): Acts =>
  Object.fromEntries(
    Object.entries(acts).map(([verb, act]) => [verb, { ...act, refusal: ADMINS_ONLY }]),
  );
