import { speedText } from '../../../cli/capabilities/machine.js';
import { isOver } from '../../../cli/operations/bar.js';
import { sizeText } from '../../../cli/operations/counts.js';
import type { Capability, ModelFit, Operation } from '../../../src/client/index.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { textRows } from '../../parts/text.js';
import type { State } from '../../state/state.js';
import { findStateTone } from '../../theme.js';
import { progressText } from '../operations/operations.js';
import { licenceText } from './acts.js';
import { type CapabilityRow, capabilityState } from './rows.js';

/** Speed in words, because signs are read aloud badly. */
export const spokenSpeed = (fit: ModelFit): string => {
  const text = speedText(fit)
    .replace('tok/s read', 'tokens read per second')
    .replace('tok/s', 'tokens written per second');
  const [, speed = text, spread] = /^(.*) ±(\d+) %$/.exec(text) ?? [];
  if (spread !== undefined) return `${speed}, varies by ${spread} percent`;
  return text.startsWith('~') ? `${text.slice(1)}, estimated` : text;
};

const memoryText = ({ totalBytes, weightsBytes, kvCacheBytes, bufferBytes }: ModelFit): string => {
  const parts = [
    `weights ${sizeText(weightsBytes)}`,
    ...(kvCacheBytes === null ? [] : [`cache ${sizeText(kvCacheBytes)}`]),
    ...(bufferBytes === null ? [] : [`buffer ${sizeText(bufferBytes)}`]),
  ];
  return `${sizeText(totalBytes)}: ${parts.join(', ')}`;
};

const fitFacts = (fit: ModelFit): [string, string][] => {
  const speed = speedText(fit);
  const facts: [string, string][] = [
    ['Memory', memoryText(fit)],
    ['Runs on', `${fit.runsOn}, with a context of ${fit.contextWindow} tokens`],
  ];
  if (speed !== '') facts.push(['Speed', speed]);
  if (fit.useCases.length > 0) facts.push(['For', fit.useCases.join(', ')]);
  if (fit.recommendedFor.length > 0)
    facts.push(['First choice for', fit.recommendedFor.join(', ')]);
  facts.push(['Why', fit.why]);
  return facts;
};

const installFacts = (install: NonNullable<Capability['install']>): [string, string][] =>
  [
    ['Licence', licenceText(install)],
    ...(install.mustAccept ? [['Terms', 'own terms; you must accept them'] as const] : []),
    ['Size', install.bytes === null ? 'unknown' : sizeText(install.bytes)],
    ['Source', install.source],
    ...(install.needs.length > 0 ? [['Needs', install.needs.join(', ')] as const] : []),
  ].map(([name, value = '']): [string, string] => [name ?? '', value]);

/** Outcome of the last operation if it did not succeed. Empty otherwise. */
const formatOperationFailure = (operation: Operation | null): string => {
  if (!operation || !isOver(operation) || operation.status === 'completed') return '';
  return `${operation.title}: ${operation.status}${operation.error === null ? '' : `: ${operation.error}`}`;
};

export const capabilityFacts = ({ item, fit, operation }: CapabilityRow): [string, string][] => {
  const { apiId, kind, version, path, reason, bytes, usedBy, install, status } = item;
  const failure = formatOperationFailure(operation);
  const facts: [string, string][] = [['Id', `${apiId}   ${kind}`]];
  if (version !== null) facts.push(['Version', version]);
  if (reason !== null && !['missing', 'installing'].includes(status))
    facts.push(['Reason', reason]);
  if (reason !== null && status === 'missing' && install === null) facts.push(['Reason', reason]);
  if (failure !== '') facts.push(['Last', failure]);
  if (usedBy.length > 0) facts.push(['Used by', usedBy.join(', ')]);
  if (fit) facts.push(...fitFacts(fit));
  if (install) facts.push(...installFacts(install));
  else if (fit && fit.licence !== null) facts.push(['Licence', fit.licence]);
  if (bytes !== null) facts.push(['On disk', sizeText(bytes)]);
  if (path !== null) facts.push(['Path', path]);
  return facts;
};

export const capabilityHead = (state: State, of: CapabilityRow, width: number): ScreenRow[] => {
  const word = capabilityState(state, of);
  const { item, operation } = of;
  const bar = operation && !isOver(operation) ? progressText(state, operation) : '';
  return [
    row(tonedSpan('strong', item.name), '   ', tonedSpan(findStateTone(word), word)),
    ...(bar === '' ? [] : textRows(bar, width, true)),
  ];
};
