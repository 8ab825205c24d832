const INTRO = `# Tools

<!-- Written by \`npm run docs\` from the tool definitions in src/tools/. Edit those. -->

What a model is offered: parameters, answers and hints. \`forge-tools tools\` lists those that a configuration offers,
\`forge-tools tools --format mcp|openai|openai-chat|anthropic|jsonschema\` prints their definitions, and
\`schemas/tools/\` has them as JSON Schema files.

A call answers with a \`ToolResult\` whose \`data\` is the answer described below, or whose \`error\` has one of the
[error codes](errors.md). Tools that do more than read need an [approval](approvals.md), and so do those
that reach the network.
`;

/** docs/tools.md from the definitions. */
export function renderTools(tools) {
  const rows = tools.map(
    ({name, title, annotations}) => `| [\`${name}\`](#${name}) | ${title} | ${hintsOf(annotations)} |`,
  );
  const table = ['| tool | what | effect |', '|---|---|---|', ...rows, ''].join('\n');
  return [INTRO, table, ...tools.map(renderTool)].join('\n');
}

function hintsOf({readOnly, destructive, idempotent, openWorld}) {
  return [
    readOnly ? 'reads' : destructive ? 'changes what is there' : 'adds',
    ...(idempotent && !readOnly ? ['idempotent'] : []),
    ...(openWorld ? ['reaches the network'] : []),
  ].join(', ');
}

function renderTool({name, title, description, paramsSchema, dataSchema}) {
  return [
    `## ${name}`,
    '',
    `*${title}.* ${literal(description)}`,
    '',
    ...fieldTable('parameter', paramsSchema, true),
    ...fieldTable('answer', dataSchema, false),
  ].join('\n');
}

function fieldTable(heading, schema, withDefaults) {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return [`${heading}: ${typeOf(schema)}`, ''];
  const required = new Set(schema.required ?? []);
  const columns = withDefaults ? [heading, 'type', 'default', 'what'] : [heading, 'type', 'what'];
  const rows = properties.map(([name, property]) => {
    const standard = required.has(name)
      ? 'required'
      : 'default' in property
        ? `\`${JSON.stringify(property.default)}\``
        : '';
    const type = !withDefaults && !required.has(name) ? `${typeOf(property)}, not always` : typeOf(property);
    return [`\`${name}\``, type, ...(withDefaults ? [standard] : []), literal(property.description ?? '')];
  });
  return [columns, columns.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).concat('');
}

/** Patterns such as `*.py` are no emphasis, and nothing ends a cell. */
function literal(text) {
  return text.replace(/[*_<|]/g, '\\$&').replaceAll('\n', ' ');
}

function typeOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map(value => `\`${JSON.stringify(value)}\``).join(', ');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return alternatives.map(typeOf).join(' or ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object' && schema.properties !== undefined) {
    return `{${Object.keys(schema.properties).join(', ')}}`;
  }
  if (schema.type === 'integer' || schema.type === 'number') return `${schema.type}${rangeOf(schema)}`;
  return schema.type ?? 'any';
}

function rangeOf({minimum, maximum}) {
  if (minimum !== undefined && maximum !== undefined) return ` ${minimum}-${maximum}`;
  if (minimum !== undefined) return ` ≥ ${minimum}`;
  return maximum === undefined ? '' : ` ≤ ${maximum}`;
}
