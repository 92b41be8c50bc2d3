import { writeFileSync } from 'node:fs';
import { migrations, TRIGGERS_FILE } from '../migrations/all.js';
import { triggersOfMigrations } from './store/thread/triggers.js';

/** Build step: writes the triggers of the newest schema, which each start compares with the database. */
const made = {
  version: migrations.at(-1)?.version ?? 0,
  triggers: triggersOfMigrations(migrations),
};
writeFileSync(TRIGGERS_FILE, JSON.stringify(made));
