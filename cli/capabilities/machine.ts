import type { Hardware, ModelFit } from '../../src/client/index.js';
import { sizeText } from '../operations/counts.js';
import { oneLine, safe } from '../text.js';

/** Ours: a measured speed that varies more than this is shown as unsteady. */
const UNSTEADY = 0.15;

/**
 * `41 tok/s`, `~12 tok/s` where it is estimated, `38 tok/s ±20 %` where it is unsteady,
 * `900 tok/s read` for a model that makes vectors.
 */
export const speedText = ({ tokensPerSecond }: Pick<ModelFit, 'tokensPerSecond'>): string => {
  const { unit, measured, estimated } = tokensPerSecond;
  if (measured) {
    const read = unit === 'read' ? ' read' : '';
    const unsteady = measured.spread > UNSTEADY ? ` ±${Math.round(measured.spread * 50)} %` : '';
    return `${rounded(measured.median)} tok/s${read}${unsteady}`;
  }
  // An estimate is one of writing, which a model that makes vectors does not do.
  return estimated === null || unit === 'read' ? '' : `~${rounded(estimated)} tok/s`;
};

const rounded = (value: number): string =>
  value >= 10 ? String(Math.round(value)) : value.toFixed(1);

const known = (bytes: number | null): string => (bytes === null ? 'not known' : sizeText(bytes));

/** The lines that describe the machine. */
export const machineLines = (reply: Hardware): string[] => {
  const { platform, cpu, memory, gpus, gpuNote, disk, catalogue, sources } = reply;
  const vectors = cpu.flags.filter((flag) => /^(avx|avx2|avx512f|amx_int8|neon|asimd)$/.test(flag));
  const speed =
    memory.bytesPerSecond === null ? '' : `, read at ${sizeText(memory.bytesPerSecond)}/s`;
  return [
    `CPU     ${oneLine(cpu.model ?? 'not known')}, ${cpu.cores ?? '?'} cores, ${cpu.arch}${vectors.length > 0 ? `, ${vectors.join(' ')}` : ''}`,
    `Memory  ${known(memory.availableBytes)} free of ${known(memory.totalBytes)}${speed}`,
    ...(gpus.length === 0 ? ['GPU     none was found'] : gpus.map(gpuLine)),
    ...(gpuNote === null ? [] : [`        ${oneLine(gpuNote)}`]),
    `Disk    ${known(disk.freeBytes)} free`,
    `System  ${safe(platform)}; models of the catalogue of ${safe(catalogue.date)}, ${oneLine(catalogue.source)}`,
    ...(catalogue.fault === null ? [] : [`        ${oneLine(catalogue.fault)}`]),
    ...sources.flatMap(({ part, note }) =>
      note === null ? [] : [`        ${part}: ${oneLine(note)}`],
    ),
  ];
};

const gpuLine = ({ name, vramBytes, driver }: Hardware['gpus'][number]): string =>
  `GPU     ${oneLine(name)}, ${vramBytes === null ? 'memory of the machine' : sizeText(vramBytes)}${driver === null ? '' : `, driver ${oneLine(driver)}`}`;
