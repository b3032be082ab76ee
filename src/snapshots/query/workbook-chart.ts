/** Adds a native bar chart to the first sheet of a workbook, beside its table. */

import type { Blob } from 'node:buffer';
import type Stream from 'node:stream';
import type { Feature } from 'write-excel-file/node';

export type WorkbookFeature = Feature<Stream | Buffer | Blob>;

export interface ChartPlace {
  readonly sheet: string;
  /** Row of the column names, from 1. The values follow. */
  readonly head: number;
  readonly rows: number;
  /** Columns of the sheet that the chart shows, from 0. The first column names the bars. */
  readonly columns: readonly number[];
  /** Column beside which the chart is, from 0. */
  readonly beside: number;
}

const drawingNs = 'http://schemas.openxmlformats.org/drawingml/2006';
const relationNs = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const chartFile = 'xl/charts/chart1.xml';
/** Blue and orange as in the report, then a quiet gray. */
const colors = ['0B6E8F', 'B8480F', '5D5B55'];

/** Returns the parts of ECMA-376 (DrawingML) that the library leaves to its users: the chart, and what refers to it. */
export function chartFeature(place: ChartPlace): WorkbookFeature {
  const first = <Text>(index: number, text: Text): Text | undefined => (index === 0 ? text : undefined);
  return {
    files: {
      transform: {
        '[Content_Types].xml': {
          insert: () =>
            `<Override PartName="/${chartFile}" ContentType="application/vnd.openxmlformats-officedocument.drawingml.chart+xml"/>`,
        },
        'xl/drawings/drawing{id}.xml': {
          insert: (_options, { sheetIndex }) => first(sheetIndex, anchor(place)),
        },
        'xl/drawings/_rels/drawing{id}.xml.rels': {
          insert: (_options, { sheetIndex }) =>
            first(
              sheetIndex,
              `<Relationship Id="rId-chart-1" Type="${relationNs}/chart" Target="../charts/chart1.xml"/>`,
            ),
        },
      },
      write: { files: () => ({ [chartFile]: chart(place) }) },
    },
  };
}

function anchor({ head, rows, beside }: ChartPlace): string {
  const corner = (name: string, column: number, row: number): string =>
    `<xdr:${name}><xdr:col>${column}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:${name}>`;
  return `<xdr:twoCellAnchor>${corner('from', beside, head - 1)}${corner('to', beside + 9, head + Math.max(Math.ceil(rows * 1.5), 12))}
<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="Chart"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr>
<xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic><a:graphicData uri="${drawingNs}/chart">
<c:chart xmlns:c="${drawingNs}/chart" xmlns:r="${relationNs}" r:id="rId-chart-1"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>`;
}

function chart({ sheet, head, rows, columns }: ChartPlace): string {
  const cells = (column: number, from: number, to: number): string =>
    `<c:f>'${escapeXml(sheet)}'!$${columnName(column)}$${from}:$${columnName(column)}$${to}</c:f>`;
  const series = columns.map(
    (column, index) => `<c:ser><c:idx val="${index}"/><c:order val="${index}"/>
<c:tx><c:strRef>${cells(column, head, head)}</c:strRef></c:tx>
<c:spPr><a:solidFill><a:srgbClr val="${colors[index % colors.length]}"/></a:solidFill></c:spPr>
<c:cat><c:strRef>${cells(0, head + 1, head + rows)}</c:strRef></c:cat>
<c:val><c:numRef>${cells(column, head + 1, head + rows)}</c:numRef></c:val></c:ser>`,
  );
  // Bars go from the top down, like the rows.
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<c:chartSpace xmlns:c="${drawingNs}/chart" xmlns:a="${drawingNs}/main"><c:roundedCorners val="0"/><c:chart>
<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>${escapeXml(sheet)}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val="0"/></c:title>
<c:autoTitleDeleted val="0"/><c:plotArea><c:layout/><c:barChart><c:barDir val="bar"/><c:grouping val="clustered"/><c:varyColors val="0"/>
${series.join('')}<c:gapWidth val="40"/><c:axId val="1"/><c:axId val="2"/></c:barChart>
<c:catAx><c:axId val="1"/><c:scaling><c:orientation val="maxMin"/></c:scaling><c:delete val="0"/><c:axPos val="l"/><c:tickLblPos val="low"/><c:txPr><a:bodyPr/><a:p><a:pPr><a:defRPr sz="800"/></a:pPr><a:endParaRPr lang="en"/></a:p></c:txPr><c:crossAx val="2"/><c:tickLblSkip val="1"/></c:catAx>
<c:valAx><c:axId val="2"/><c:scaling/><c:delete val="0"/><c:axPos val="t"/><c:majorGridlines/><c:numFmt formatCode="General" sourceLinked="0"/><c:tickLblPos val="nextTo"/><c:crossAx val="1"/></c:valAx></c:plotArea>
<c:legend><c:legendPos val="t"/><c:overlay val="0"/></c:legend><c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>`;
}

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)!};`);
}

/** A, B, and so on. A sheet for readers has few columns. */
function columnName(column: number): string {
  return column < 26
    ? String.fromCodePoint(65 + column)
    : columnName(Math.floor(column / 26) - 1) + columnName(column % 26);
}
