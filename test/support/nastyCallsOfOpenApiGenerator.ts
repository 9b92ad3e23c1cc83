/** Programs that call the nasty service by clients of OpenAPI Generator; what they print is in `generatedClients.ts`. */
import type { Clients } from "./generatedClients.ts"

// In the style of a language, two names are one if they differ in dashes, cases and underscores only.
const inCamelCase = { _type: "modelName", "first-name": "dashedName", firstName: "camelName" }

export const typescript: Clients["nasty"] = {
  names: inCamelCase,
  limits: {},
  program: `
import { BranchesApi, Configuration, FilesApi, GrenApi, KindsesApi, OddsApi, ResponseError, ThingsApi } from "./client"

const main = async () => {
  const configuration = new Configuration({ basePath: process.argv[2] ?? "" })
  const things = new ThingsApi(configuration)
  const odds = new OddsApi(configuration)
  const printed: Record<string, unknown> = {}
  const prefer = "return=representation"

  const newThing = (text: string, count: number) => ({
    text,
    code: "AB-123",
    count,
    flag: true,
    perhaps: true,
    kind: "a" as const,
    day: new Date("2026-01-31"),
    part: { label: "a part" }
  })
  const thing = await things.thingsCreate({ thingsCreateRequest: newThing("one", 1), prefer })
  if (!("text" in thing)) throw new Error("no thing")
  printed["create"] = thing.text
  printed["list"] = (await things.thingsList({ text: "one" })).items.map((item) => item.text)
  printed["get"] = (await things.thingsGet({ id: thing.id })).text
  const patched = await things.thingsPatch({ id: thing.id, thingPatch: { text: "two" }, prefer })
  printed["patch"] = "text" in patched && patched.text
  printed["action"] = (await things.thingsRename({ id: thing.id, thingsRenameRequest: { text: "three" } })).text
  printed["error"] = await things.thingsCreate({ thingsCreateRequest: newThing("no", 13) }).catch(async (error) => {
    if (!(error instanceof ResponseError)) throw error
    const refused = await error.response.json()
    return [error.response.status, refused.error, refused.count]
  })
  const scan = new File(["hello"], "scan.txt")
  const uploaded = await new FilesApi(configuration).filesUpload({ scan, note: "a note" })
  printed["upload"] = [uploaded.name, uploaded.size, uploaded.note]
  printed["csv"] = await new GrenApi(configuration).defaultsImport({ body: "a,b" })

  const newOdd = {
    _class: "class",
    from: 1,
    type: "type",
    _default: "2nd" as const,
    dashedName: "dashed",
    firstName: "low",
    camelName: "camel",
    _2nd: true,
    gre: 1234567.89
  }
  const odd = await odds.oddsCreate({ oddsCreateRequest: newOdd, prefer })
  if (!("_class" in odd)) throw new Error("no odd")
  printed["odd"] = [odd._class, odd.from, odd.type, odd._default, odd.dashedName, odd.firstName, odd.camelName, odd._2nd, odd.gre]
  const page = await odds.oddsList({ _class: "class", dashedName: "dashed", gre: "1234567.89", _2nd: "true" })
  printed["oddList"] = page.items.map((odd) => odd._class)
  const branch = { name: "root", branches: [{ name: "leaf", branches: [] }] }
  const tree = await new BranchesApi(configuration).branchesCreate({ branchesCreateRequest: branch, prefer })
  printed["tree"] = "branches" in tree && tree.branches[0]?.name
  const newKinds = {
    template: "v1",
    _int: 1,
    bigint: "42",
    unknown: "any",
    union: true,
    dateTimeUtcFromMillis: 1769851800000,
    finite: 1234567.89
  }
  const kinds = await new KindsesApi(configuration).kindsesCreate({ kindsesCreateRequest: newKinds, prefer })
  if (!("template" in kinds)) throw new Error("no kinds")
  const { bigint, dateTimeUtcFromMillis, finite, template, union, unknown } = kinds
  printed["kinds"] = [template, kinds._int, bigint, unknown, union, dateTimeUtcFromMillis, finite]
  printed["version2"] = (await odds.oddsV2Create({ v2OddCreate: { _class: ["class"] } }))._class
  console.log(JSON.stringify(printed))
}

void main()
`
}

export const python: Clients["nasty"] = {
  // A field hides the type of its name from the fields below it.
  names: { _type: "model_name", "first-name": "dashed_name", firstName: "camel_name", int: "int_", bytes: "bytes_" },
  limits: {},
  program: `
import json, sys
from openapi_client import (ApiClient, BranchesApi, Configuration, FilesApi, GrenApi, KindsesApi, OddsApi,
    ThingsApi)
from openapi_client.exceptions import ApiException
from openapi_client.models import *

client = ApiClient(Configuration(host=sys.argv[1]))
things, odds, printed = ThingsApi(client), OddsApi(client), {}
whole = "return=representation"

def new_thing(text, count):
    return ThingsCreateRequest(ThingCreate(text=text, code="AB-123", count=count, flag=True, perhaps=None, kind="a",
        day="2026-01-31", part=PartCreate(label="a part")))

thing = things.things_create(new_thing("one", 1), prefer=whole).actual_instance
printed["create"] = thing.text
printed["list"] = [item.actual_instance.text for item in things.things_list(text="one").items]
printed["get"] = things.things_get(thing.id).actual_instance.text
printed["patch"] = things.things_patch(thing.id, ThingPatch(text="two"), prefer=whole).actual_instance.text
printed["action"] = things.things_rename(thing.id, ThingsRenameRequest(text="three")).text
try:
    things.things_create(new_thing("no", 13))
except ApiException as error:
    refused = error.data.actual_instance if hasattr(error.data, "actual_instance") else error.data
    printed["error"] = [error.status, refused.error, refused.count]
uploaded = FilesApi(client).files_upload(scan=("scan.txt", b"hello"), note="a note")
printed["upload"] = [uploaded.name, uploaded.size, uploaded.note]
printed["csv"] = GrenApi(client).defaults_import("a,b", _headers={"Accept": "text/csv"})

new_odd = OddCreate(var_class="class", var_from=1, type="type", default="2nd", dashed_name="dashed", first_name="low",
    camel_name="camel", var_2nd=True, gre=1234567.89)
odd = odds.odds_create(OddsCreateRequest(new_odd), prefer=whole).actual_instance
printed["odd"] = [odd.var_class, odd.var_from, odd.type, odd.default, odd.dashed_name, odd.first_name, odd.camel_name,
    odd.var_2nd, odd.gre]
items = odds.odds_list(var_class="class", dashed_name="dashed", gre="1234567.89", var_2nd="true").items
printed["oddList"] = [item.actual_instance.var_class for item in items]
branch = BranchCreate(name="root", branches=[BranchCreate(name="leaf", branches=[])])
tree = BranchesApi(client).branches_create(BranchesCreateRequest(branch), prefer=whole).actual_instance
printed["tree"] = tree.branches[0].name
new_kinds = KindsCreate(template="v1", int_=1, bigint="42", unknown="any", union=KindsCreateUnion(True),
    date_time_utc_from_millis=1769851800000, finite=1234567.89)
kinds = KindsesApi(client).kindses_create(KindsesCreateRequest(new_kinds), prefer=whole).actual_instance
printed["kinds"] = [kinds.template, kinds.int_, kinds.bigint, kinds.unknown, kinds.union.actual_instance,
    kinds.date_time_utc_from_millis, kinds.finite]
printed["version2"] = odds.odds_v2_create(V2OddCreate(var_class=["class"])).var_class
print(json.dumps(printed))
`
}

export const go: Clients["nasty"] = {
  names: { _type: "ModelName", "first-name": "DashedName", firstName: "CamelName" },
  limits: { kinds: "it applies patterns to times and to nullable texts too, and then refuses the document" },
  program: `
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	nasty "example.com/nasty/client"
)

func check(err error) {
	var answered *nasty.GenericOpenAPIError
	if errors.As(err, &answered) {
		panic(err.Error() + ": " + string(answered.Body()))
	}
	if err != nil {
		panic(err)
	}
}

func newThing(text string, count int32) nasty.ThingsCreateRequest {
	part := nasty.NewPartCreate("a part")
	kind := nasty.Kind("a")
	thing := nasty.NewThingCreate(text, "AB-123", count, true, *nasty.NewNullableBool(nil), kind, "2026-01-31", *part)
	return nasty.ThingsCreateRequest{ThingCreate: thing}
}

func main() {
	configuration := nasty.NewConfiguration()
	configuration.Servers = nasty.ServerConfigurations{{URL: os.Args[1]}}
	client := nasty.NewAPIClient(configuration)
	things, odds, ctx := client.ThingsAPI, client.OddsAPI, context.Background()
	printed := map[string]any{}
	whole := "return=representation"

	created, _, err := things.ThingsCreate(ctx).ThingsCreateRequest(newThing("one", 1)).Prefer(whole).Execute()
	check(err)
	thing := created.Thing
	printed["create"] = thing.Text
	page, _, err := things.ThingsList(ctx).Text("one").Execute()
	check(err)
	texts := []string{}
	for _, item := range page.Items {
		texts = append(texts, item.Thing.Text)
	}
	printed["list"] = texts
	got, _, err := things.ThingsGet(ctx, thing.Id).Execute()
	check(err)
	printed["get"] = got.Thing.Text
	patch := nasty.NewThingPatch()
	patch.SetText("two")
	patched, _, err := things.ThingsPatch(ctx, thing.Id).ThingPatch(*patch).Prefer(whole).Execute()
	check(err)
	printed["patch"] = patched.Thing.Text
	three := nasty.NewThingsRenameRequest("three")
	renamed, _, err := things.ThingsRename(ctx, thing.Id).ThingsRenameRequest(*three).Execute()
	check(err)
	printed["action"] = renamed.Text
	_, response, err := things.ThingsCreate(ctx).ThingsCreateRequest(newThing("no", 13)).Execute()
	var failure *nasty.GenericOpenAPIError
	if errors.As(err, &failure) {
		refused := failure.Model().(nasty.Refused)
		printed["error"] = []any{response.StatusCode, refused.Error, refused.Count}
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("nasty-%d", os.Getpid()), "scan.txt")
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	defer os.RemoveAll(filepath.Dir(path))
	check(os.WriteFile(path, []byte("hello"), 0o600))
	scan, err := os.Open(path)
	check(err)
	uploaded, _, err := client.FilesAPI.FilesUpload(ctx).Scan(scan).Note("a note").Execute()
	check(err)
	printed["upload"] = []any{uploaded.Name, uploaded.Size, uploaded.GetNote()}
	configuration.AddDefaultHeader("Accept", "text/csv")
	table, _, err := client.GrenAPI.DefaultsImport(ctx).Body("a,b").Execute()
	check(err)
	printed["csv"] = table

	newOdd := nasty.NewOddCreate("class", 1)
	newOdd.SetType("type")
	newOdd.SetDefault("2nd")
	newOdd.SetDashedName("dashed")
	newOdd.SetFirstName("low")
	newOdd.SetCamelName("camel")
	newOdd.SetVar2nd(true)
	newOdd.SetGre(1234567.89)
	born, _, err := odds.OddsCreate(ctx).OddsCreateRequest(nasty.OddsCreateRequest{OddCreate: newOdd}).Prefer(whole).Execute()
	check(err)
	odd := born.Odd
	printed["odd"] = []any{odd.Class, odd.From, odd.GetType(), odd.GetDefault(), odd.GetDashedName(), odd.GetFirstName(),
		odd.GetCamelName(), odd.GetVar2nd(), odd.GetGre()}
	oddPage, _, err := odds.OddsList(ctx).Class("class").DashedName("dashed").Gre("1234567.89").Var2nd("true").Execute()
	check(err)
	classes := []string{}
	for _, item := range oddPage.Items {
		classes = append(classes, item.Odd.Class)
	}
	printed["oddList"] = classes
	leaf := nasty.NewBranchCreate("leaf", []nasty.BranchCreate{})
	root := nasty.NewBranchCreate("root", []nasty.BranchCreate{*leaf})
	request := nasty.BranchesCreateRequest{BranchCreate: root}
	tree, _, err := client.BranchesAPI.BranchesCreate(ctx).BranchesCreateRequest(request).Prefer(whole).Execute()
	check(err)
	printed["tree"] = tree.Branch.Branches[0].Name
	second, _, err := odds.OddsV2Create(ctx).V2OddCreate(*nasty.NewV2OddCreate([]string{"class"})).Execute()
	check(err)
	printed["version2"] = second.Class
	text, _ := json.Marshal(printed)
	fmt.Println(string(text))
}
`
}

export const java: Clients["nasty"] = {
  names: inCamelCase,
  // It can't read unions of classes that it has not made.
  types: { DateTime: "String" },
  limits: {},
  program: `
package nasty;

import com.google.gson.Gson;
import java.io.File;
import java.nio.file.Files;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import nasty.api.*;
import nasty.model.*;

public class Calls {
  static ThingsCreateRequest newThing(String text, long count) {
    return new ThingsCreateRequest(new ThingCreate().text(text).code("AB-123").count((int) count).flag(true).perhaps(true)
      .kind(Kind.A).day(LocalDate.of(2026, 1, 31)).part(new PartCreate().label("a part")));
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient().setBasePath(args[0]);
    ThingsApi things = new ThingsApi(client);
    OddsApi odds = new OddsApi(client);
    Map<String, Object> printed = new TreeMap<>();
    String whole = "return=representation";

    Thing thing = things.thingsCreate(newThing("one", 1), whole, null, null).getThing();
    printed.put("create", thing.getText());
    var page = things.thingsList(null, null, null, null, null, null, null, null, null, "one", null, null, null, null, null,
      null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
      null, null, null, null, null, null, null);
    printed.put("list", page.getItems().stream().map(item -> item.getThing().getText()).toList());
    printed.put("get", things.thingsGet(thing.getId(), null, null, null).getThing().getText());
    printed.put("patch",
      things.thingsPatch(thing.getId(), new ThingPatch().text("two"), whole, null, null).getThing().getText());
    printed.put("action",
      things.thingsRename(thing.getId(), new ThingsRenameRequest().text("three"), null, null).getText());
    try {
      things.thingsCreate(newThing("no", 13), null, null, null);
    } catch (ApiException error) {
      Refused refused = Refused.fromJson(error.getResponseBody());
      printed.put("error", List.of(error.getCode(), refused.getError().getValue(), refused.getCount()));
    }
    File scan = Files.createTempDirectory("nasty").resolve("scan.txt").toFile();
    Files.writeString(scan.toPath(), "hello");
    var uploaded = new FilesApi(client).filesUpload(scan, "a note");
    printed.put("upload", List.of(uploaded.getName(), uploaded.getSize(), uploaded.getNote()));
    ApiClient asksForText = new ApiClient(client.getHttpClient().newBuilder().addInterceptor(chain ->
      chain.proceed(chain.request().newBuilder().header("Accept", "text/csv").build())).build()).setBasePath(args[0]);
    printed.put("csv", new GrenApi(asksForText).defaultsImport("a,b"));

    OddCreate newOdd = new OddCreate().propertyClass("class").from(1L).type("type")._default(OddCreate.DefaultEnum._2ND)
      .dashedName("dashed").firstName("low").camelName("camel")._2nd(true).größe(1234567.89);
    Odd odd = odds.oddsCreate(new OddsCreateRequest(newOdd), whole, null, null).getOdd();
    printed.put("odd", List.of(odd.getPropertyClass(), odd.getFrom(), odd.getType(), odd.getDefault().getValue(),
      odd.getDashedName(), odd.getFirstName(), odd.getCamelName(), odd.get2nd(), odd.getGröße()));
    var oddPage = odds.oddsList(null, null, null, null, null, null, null, null, null, null, "class", null, null, null, null,
      "dashed", null, null, "true", "1234567.89", null, null);
    printed.put("oddList", oddPage.getItems().stream().map(item -> item.getOdd().getPropertyClass()).toList());
    BranchCreate leaf = new BranchCreate().name("leaf").branches(List.of());
    BranchCreate root = new BranchCreate().name("root").branches(List.of(leaf));
    Branch tree = new BranchesApi(client).branchesCreate(new BranchesCreateRequest(root), whole, null, null).getBranch();
    printed.put("tree", tree.getBranches().get(0).getName());
    KindsCreate newKinds = new KindsCreate().template("v1")._int(1L).bigint("42").unknown("any")
      .union(new KindsCreateUnion(true)).dateTimeUtcFromMillis(1769851800000L).finite(1234567.89);
    Kinds kinds = new KindsesApi(client).kindsesCreate(new KindsesCreateRequest(newKinds), whole, null, null).getKinds();
    printed.put("kinds", List.of(kinds.getTemplate(), kinds.getInt(), kinds.getBigint(), kinds.getUnknown(),
      kinds.getUnion().getActualInstance(), kinds.getDateTimeUtcFromMillis(), kinds.getFinite()));
    V2OddCreate second = new V2OddCreate().propertyClass(List.of("class"));
    printed.put("version2", odds.oddsV2Create(second).getPropertyClass());
    System.out.println(new Gson().toJson(printed));
    System.exit(0);
  }
}
`
}
