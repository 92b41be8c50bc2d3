import type { BackupView } from '../../src/client/index.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { ago } from '../times.js';
import { megabytes } from './progress.js';

export const backupColumns: TableColumn<BackupView>[] = [
  { name: 'id', value: ({ id }) => id, only: 'data' },
  { name: 'kind', value: ({ kind }) => kind },
  { name: 'status', value: ({ status }) => status, isState: true },
  shownAs('at', ({ createdAt }) => createdAt, ago),
  {
    name: 'size',
    value: ({ made }) => made?.bytes,
    show: ({ made }) => (made ? megabytes(made.bytes) : ''),
    isNumber: true,
  },
  ...fieldColumns('cause', 'file'),
  { name: 'removed', value: ({ removedAt }) => removedAt, only: 'data' },
  { name: 'error', value: ({ error }) => error },
];
