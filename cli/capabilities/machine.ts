import type { Hardware, ModelFit } from '../../src/client/index.js';
import { sizeText } from '../operations/counts.js';
import { oneLine, safe } from '../text.js';

/** A measured speed with a larger relative spread is shown as unsteady. */
const UNSTEADY = 0.15;

/**
 * `41 tok/s`, `~12 tok/s` for an estimate, `38 tok/s ±20 %` for an unsteady speed, `900 tok/s
 * read` for an embedding model.
 */
export const speedText = ({ tokensPerSecond }: Pick<ModelFit, 'tokensPerSecond'>): string => {
  const { unit, measured, estimated } = tokensPerSecond;
  if (measured) {
    const read = unit === 'read' ? ' read' : '';
    const unsteady = measured.spread > UNSTEADY ? ` ±${Math.round(measured.spread * 50)} %` : '';
    return `${rounded(measured.median)} tok/s${read}${unsteady}`;
  }
  // Estimates are for generation, which embedding models do not do.
  return estimated === null || unit === 'read' ? '' : `~${rounded(estimated)} tok/s`;
};

const rounded = (value: number): string =>
  value >= 10 ? String(Math.round(value)) : value.toFixed(1);

const known = (bytes: number | null): string => (bytes === null ? 'unknown' : sizeText(bytes));

export const machineLines = (reply: Hardware): string[] => {
  const { platform, cpu, memory, gpus, gpuNote, disk, catalogue, sources } = reply;
  const vectors = cpu.flags.filter((flag) => /^(avx|avx2|avx512f|amx_int8|neon|asimd)$/.test(flag));
  const speed =
    memory.bytesPerSecond === null ? '' : `, read at ${sizeText(memory.bytesPerSecond)}/s`;
  return [
    `CPU     ${oneLine(cpu.model ?? 'unknown')}, ${cpu.cores ?? '?'} cores, ` +
      `${cpu.arch}${vectors.length > 0 ? `, ${vectors.join(' ')}` : ''}`,
    `Memory  ${known(memory.availableBytes)} free of ${known(memory.totalBytes)}${speed}`,
    ...(gpus.length === 0 ? ['GPU     none found'] : gpus.map(gpuLine)),
    ...(gpuNote === null ? [] : [`        ${oneLine(gpuNote)}`]),
    `Disk    ${known(disk.freeBytes)} free`,
    `System  ${safe(platform)}; model catalogue of ${safe(catalogue.date)}, ` +
      `${oneLine(catalogue.source)}`,
    ...(catalogue.fault === null
      ? []
      : [`        Catalogue not used: ${oneLine(catalogue.fault)}`]),
    ...sources.flatMap(({ part, note }) =>
      note === null ? [] : [`        ${part}: ${oneLine(note)}`],
    ),
  ];
};

const gpuLine = ({ name, vramBytes, driver }: Hardware['gpus'][number]): string =>
  `GPU     ${oneLine(name)}, ` +
  `${vramBytes === null ? 'system memory' : sizeText(vramBytes)}${driver === null ? '' : `, driver ${oneLine(driver)}`}`;
