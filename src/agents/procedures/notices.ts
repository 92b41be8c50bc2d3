import type Database from 'better-sqlite3';

export interface AgentNotices {
  count: number;
  kept: { id: number; line: string }[];
}

export const agentNotices = (db: Database.Database) => {
  const countOf = db.prepare<[string], { notices: number }>(
    'SELECT notices FROM agents WHERE id = ?',
  );
  const keptOf = db.prepare<[string], AgentNotices['kept'][number]>(
    'SELECT id, line FROM run_notices WHERE agent_id = ? ORDER BY id',
  );
  return (agentId: string): AgentNotices => {
    const count = countOf.get(agentId)?.notices ?? 0;
    return { count, kept: count === 0 ? [] : keptOf.all(agentId) };
  };
};
