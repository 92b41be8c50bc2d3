/** Times are ISO 8601. */
export interface KnowledgeFilter {
  sourceType?: string[] | undefined;
  tags?: string[] | undefined;
  trust?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  entryIds?: string[] | undefined;
  exceptEntries?: string[] | undefined;
}

/** Conditions on the table `entries` with the alias `m`. */
export interface FilterConditions {
  conditions: string[];
  values: Record<string, string | number>;
}

export const buildFilterConditions = ({
  sourceType,
  tags,
  trust,
  since,
  until,
  entryIds,
  exceptEntries,
}: KnowledgeFilter): FilterConditions => ({
  conditions: [
    ...(sourceType ? ['m.source_type IN (SELECT value FROM json_each(@sourceType))'] : []),
    ...(trust ? ['m.trust = @trust'] : []),
    ...(since ? ['m.created_at >= @since'] : []),
    ...(until ? ['m.created_at <= @until'] : []),
    ...(entryIds ? ['m.entry_id IN (SELECT value FROM json_each(@entryIds))'] : []),
    ...(exceptEntries ? ['m.entry_id NOT IN (SELECT value FROM json_each(@exceptEntries))'] : []),
    ...(tags
      ? [
          '(SELECT count(*) FROM json_each(m.tags) AS t JOIN json_each(@tags) AS a ON a.value = t.value) = @tagCount',
        ]
      : []),
  ],
  values: {
    ...(sourceType && { sourceType: JSON.stringify(sourceType) }),
    ...(trust && { trust }),
    ...(since && { since }),
    ...(until && { until }),
    ...(entryIds && { entryIds: JSON.stringify(entryIds) }),
    ...(exceptEntries && { exceptEntries: JSON.stringify(exceptEntries) }),
    ...(tags && { tags: JSON.stringify(tags), tagCount: tags.length }),
  },
});
