import { resourceGroup } from '../resource.js';

export const expertsGroup = await resourceGroup('experts', {
  noun: 'expert',
  columns: ['name', 'source', 'description', 'topic', 'model', 'updated=updatedAt:ago'],
  list: {
    examples: ['', '--source custom', '--json'],
    next: (rows) =>
      rows.some(({ source }) => source === 'custom')
        ? undefined
        : 'Create your own: adjutant experts create',
    seeAlso: 'adjutant agents spawn --orchestrated, or --expert-id',
  },
});
