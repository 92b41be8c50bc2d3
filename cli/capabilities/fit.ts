import type { ModelFit } from '../../src/client/index.js';
import { columnsOf } from '../columns.js';
import { sizeText } from '../operations/bar.js';
import { speedText } from './machine.js';

const recommendedText = ({ recommendedFor }: ModelFit): string => recommendedFor.join(', ');

export const fitColumns = columnsOf<ModelFit>(
  ['model:whole', 'name:data'],
  {
    name: 'memory',
    value: ({ totalBytes }) => totalBytes,
    show: (row) => sizeText(row.totalBytes),
  },
  { name: 'runs on', value: ({ runsOn }) => runsOn, show: ({ runsOn }) => runsOn, isState: true },
  {
    name: 'speed',
    value: ({ tokensPerSecond }) => tokensPerSecond.measured?.median ?? tokensPerSecond.estimated,
    show: speedText,
  },
  ['licence'],
  { name: 'first for', value: recommendedText, show: recommendedText },
  ['installed:data', 'context=contextWindow:data', 'weights=weightsBytes:data'],
  ['cache=kvCacheBytes:data', 'buffer=bufferBytes:data', 'headroom=headroomBytes:data', 'why:data'],
);
