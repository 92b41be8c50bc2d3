import type { BackupView } from '../../src/client/index.js';
import type { Column } from '../columns.js';
import { ago } from '../times.js';
import { megabytes } from './progress.js';

export const columns: Column<BackupView>[] = [
  { name: 'id', value: ({ id }) => id, only: 'data' },
  { name: 'kind', value: ({ kind }) => kind },
  { name: 'status', value: ({ status }) => status, isState: true },
  { name: 'at', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt) },
  {
    name: 'size',
    value: ({ made }) => made?.bytes,
    show: ({ made }) => (made ? megabytes(made.bytes) : ''),
    isNumber: true,
  },
  { name: 'cause', value: ({ cause }) => cause },
  { name: 'file', value: ({ file }) => file },
  { name: 'removed', value: ({ removedAt }) => removedAt, only: 'data' },
  { name: 'error', value: ({ error }) => error },
];
