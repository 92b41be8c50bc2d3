import { resolve } from 'node:path';
import { command, type Flag, on, textFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { age, ago } from '../times.js';

const count = (value: string, about: string): Flag<number> => ({
  value,
  about,
  read: (given) => {
    if (/^[1-9]\d{0,3}$/.test(given)) return Number(given);
    throw usageFault(`${value} is a whole number above 0 (got "${given}")`);
  },
});

/** The schedule is the daemon's settings, which nobody changes from afar: this says what to set. */
export const schedule = command({
  name: 'schedule',
  summary: 'Show when backups are made by themselves, or what to set for it',
  examples: ['', '--daily --keep 7 --to /mnt/backup', '--hours 6 --keep 28'],
  flags: {
    daily: on('One a day'),
    hours: count('<n>', 'One every so many hours'),
    keep: count('<n>', 'How many are kept, 7 unless given'),
    to: textFlag('<folder>', 'Where they go, better on another disk'),
  },
  notes: ['With flags it prints settings for the environment of the daemon, and changes nothing.'],
  run: async (context, { flags }) => {
    const { out } = context;
    const every = flags.daily ? 'daily' : flags.hours && `${flags.hours}h`;
    if (every) {
      out.line(`ADJUTANT_BACKUP_EVERY=${every}`);
      out.line(`ADJUTANT_BACKUP_KEEP=${flags.keep ?? 7}`);
      if (flags.to) out.line(`ADJUTANT_BACKUP_FOLDER=${resolve(flags.to)}`);
      out.line('ADJUTANT_BACKUP_PASSPHRASE_FILE=<a file that only the daemon can read>');
      out.note('Set these where the daemon is started, then: adjutant restart');
      return;
    }
    const page = await (await context.client()).backups.list({ query: { limit: 1 } });
    const now = page.schedule;
    if (out.format !== 'table') {
      out.json(now);
      return;
    }
    if (now.everyHours === 0) {
      out.line('No backups are made by themselves.');
      out.note('Have them made: adjutant backup schedule --daily --keep 7');
      return;
    }
    out.line(`Every ${now.everyHours} h into ${now.folder}, ${now.keep} are kept.`);
    out.line(`Last ${age(now.lastAt)}, next ${now.nextAt === null ? 'never' : ago(now.nextAt)}.`);
  },
});
