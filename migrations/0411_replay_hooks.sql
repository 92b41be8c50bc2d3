-- A replay walks the hooks that were checked at its request. One that was begun before walks those
-- that it may be about: the one of its filter, or all of its user.
UPDATE operations SET input = json_set(input, '$.hookIds',
    -- json(), since newer versions of SQLite take the list of a subquery for a text.
    json((SELECT json_group_array(h.id ORDER BY h.id) FROM hooks AS h
      WHERE h.user_id = operations.user_id
        AND h.id = coalesce(operations.input ->> '$.filter.hookId', h.id))))
  WHERE kind = 'hooks.replay' AND status IN ('queued', 'running');
