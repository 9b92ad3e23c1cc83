import { describe } from "@effect/vitest"
import {
  goOfOpenapiGenerator,
  javaOfOpenapiGenerator,
  pythonOfOpenapiGenerator,
  typescriptOfOpenapiGenerator
} from "../../support/clientGenerators.ts"
import { clientsOfServices } from "../../support/generatedClients.ts"
import * as nasty from "../../support/nastyCallsOfOpenApiGenerator.ts"

const readsAnotherAnswer =
  "both are created, and the client then fails: it reads a 201 by the schema of the 200, which has no list"

describe("Clients that OpenAPI Generator makes from the document", () => {
  clientsOfServices({
    TypeScript: {
      generator: typescriptOfOpenapiGenerator,
      shop: {
        program: typescript,
        names: { _type: "modelName" },
        limits: { createList: "the type of the body is a document, where the description has one or a list" }
      },
      nasty: nasty.typescript
    },
    Python: { generator: pythonOfOpenapiGenerator, shop: { program: python, limits: {} }, nasty: nasty.python },
    Go: {
      generator: goOfOpenapiGenerator,
      shop: { program: go, names: { _type: "ModelName" }, limits: { createList: readsAnotherAnswer } },
      nasty: nasty.go
    },
    Java: {
      generator: javaOfOpenapiGenerator,
      shop: { program: java, names: { _type: "modelName" }, limits: { createList: readsAnotherAnswer } },
      nasty: nasty.java
    }
  })
})

const typescript = `
import { Configuration, FilesApi, ProductsApi, ResponseError, UsersApi } from "./client"

const main = async () => {
  const configuration = new Configuration({
    basePath: process.argv[2] ?? "",
    headers: { authorization: process.argv[3] ?? "" }
  })
  const users = new UsersApi(configuration)
  const products = new ProductsApi(configuration)
  const printed: Record<string, unknown> = {}

  const newUser = { name: "Ann", email: "ann@ts.example.com", password: "a long secret", roles: ["user"] }
  const user = await users.usersCreate({ usersCreateRequest: newUser, prefer: "return=representation" })
  if (!("email" in user)) throw new Error("no user")
  printed["create"] = user.name
  const { items } = await users.usersList({ email: user.email, sortBy: "-name", pageSize: 5 })
  printed["list"] = items.map((item) => item.name)
  printed["get"] = (await users.usersGet({ id: user.id })).name
  const prefer = "return=representation"
  const patched = await users.usersPatch({ id: user.id, userPatch: { name: "Annie" }, prefer })
  printed["patch"] = "name" in patched ? patched.name : patched
  const newProduct = { code: "TSF-0001", name: "Chair", price: 12.5, currency: "CHF", stock: 3 } as const
  const created = await products.productsCreate({ productsCreateRequest: newProduct })
  if (!("result" in created) || typeof created.result !== "string") throw new Error("no result")
  printed["action"] = (await products.productsGetSummary({ id: created.result })).result?.split(" ")[0]
  const scan = new File(["hello"], "scan.txt")
  const uploaded = await new FilesApi(configuration).filesUpload({ scan, note: "a note" })
  printed["upload"] = [uploaded.name, uploaded.size, uploaded.note]
  printed["delete"] = (await users.usersDelete({ id: user.id })).result
  printed["error"] = await users.usersGet({ id: user.id }).catch(async (error) => {
    if (!(error instanceof ResponseError)) throw error
    return [error.response.status, (await error.response.json())._type]
  })
  console.log(JSON.stringify(printed))
}

void main()
`

const python = `
import json, sys
from openapi_client import ApiClient, Configuration, FilesApi, ProductsApi, UsersApi
from openapi_client.exceptions import NotFoundException
from openapi_client.models import *

client = ApiClient(Configuration(host=sys.argv[1]), header_name="authorization", header_value=sys.argv[2])
users, products, printed = UsersApi(client), ProductsApi(client), {}

def new_user(name):
    return UserCreate(name=name, email=name.lower() + "@py.example.com", password="a long secret", roles=["user"])

whole = "return=representation"
user = users.users_create(UsersCreateRequest(new_user("Ann")), prefer=whole).actual_instance
printed["create"] = user.name
several = UsersCreateRequest([new_user("Bob"), new_user("Cleo")])
printed["createList"] = len(users.users_create(several).actual_instance.result)
items = users.users_list(email=user.email, sort_by="-name", page_size=5).items
printed["list"] = [item.actual_instance.name for item in items]
printed["get"] = users.users_get(user.id).actual_instance.name
printed["patch"] = users.users_patch(user.id, UserPatch(name="Annie"), prefer=whole).actual_instance.name
new_product = ProductCreate(code="PYT-0001", name="Chair", price=12.5, currency="CHF", stock=3)
created = products.products_create(ProductsCreateRequest(new_product)).actual_instance
printed["action"] = products.products_get_summary(created.result).result.split(" ")[0]
uploaded = FilesApi(client).files_upload(scan=("scan.txt", b"hello"), note="a note")
printed["upload"] = [uploaded.name, uploaded.size, uploaded.note]
printed["delete"] = users.users_delete(user.id).result
try:
    users.users_get(user.id)
except NotFoundException as error:
    printed["error"] = [error.status, error.data.type]
print(json.dumps(printed))
`

const go = `
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	shop "example.com/shop/client"
)

func check(err error) {
	var answered *shop.GenericOpenAPIError
	if errors.As(err, &answered) {
		panic(err.Error() + ": " + string(answered.Body()))
	}
	if err != nil {
		panic(err)
	}
}

func newUser(name string) shop.UserCreate {
	user := shop.NewUserCreate(name, strings.ToLower(name)+"@go.example.com", "a long secret")
	user.SetRoles([]string{"user"})
	return *user
}

func main() {
	configuration := shop.NewConfiguration()
	configuration.Servers = shop.ServerConfigurations{{URL: os.Args[1]}}
	configuration.AddDefaultHeader("authorization", os.Args[2])
	client := shop.NewAPIClient(configuration)
	users, products, ctx := client.UsersAPI, client.ProductsAPI, context.Background()
	printed := map[string]any{}
	whole := "return=representation"

	ann := newUser("Ann")
	created, _, err := users.UsersCreate(ctx).UsersCreateRequest(shop.UsersCreateRequest{UserCreate: &ann}).Prefer(whole).Execute()
	check(err)
	user := created.User
	printed["create"] = user.Name
	page, _, err := users.UsersList(ctx).Email(user.Email).SortBy("-name").PageSize(5).Execute()
	check(err)
	names := []string{}
	for _, item := range page.Items {
		names = append(names, item.User.Name)
	}
	printed["list"] = names
	got, _, err := users.UsersGet(ctx, user.Id).Execute()
	check(err)
	printed["get"] = got.User.Name
	patch := shop.NewUserPatch()
	patch.SetName("Annie")
	patched, _, err := users.UsersPatch(ctx, user.Id).UserPatch(*patch).Prefer(whole).Execute()
	check(err)
	printed["patch"] = patched.User.Name
	chair := shop.NewProductCreate("GOL-0001", "Chair", 12.5, shop.CHF, 3)
	stored, _, err := products.ProductsCreate(ctx).ProductsCreateRequest(shop.ProductsCreateRequest{ProductCreate: chair}).Execute()
	check(err)
	summary, _, err := products.ProductsGetSummary(ctx, stored.OperationResult.Result).Execute()
	check(err)
	printed["action"] = strings.Split(summary.Result, " ")[0]
	path := filepath.Join(os.TempDir(), fmt.Sprintf("shop-%d", os.Getpid()), "scan.txt")
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	defer os.RemoveAll(filepath.Dir(path))
	check(os.WriteFile(path, []byte("hello"), 0o600))
	scan, err := os.Open(path)
	check(err)
	uploaded, _, err := client.FilesAPI.FilesUpload(ctx).Scan(scan).Note("a note").Execute()
	check(err)
	printed["upload"] = []any{uploaded.Name, uploaded.Size, uploaded.GetNote()}
	deleted, _, err := users.UsersDelete(ctx, user.Id).Execute()
	check(err)
	printed["delete"] = deleted.Result
	_, response, err := users.UsersGet(ctx, user.Id).Execute()
	var failure *shop.GenericOpenAPIError
	if errors.As(err, &failure) {
		printed["error"] = []any{response.StatusCode, failure.Model().(shop.ErrorMessage).ModelName}
	}
	text, _ := json.Marshal(printed)
	fmt.Println(string(text))
}
`

const java = `
package shop;

import com.google.gson.Gson;
import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import shop.api.*;
import shop.model.*;

public class Calls {
  static UserCreate newUser(String name) {
    return new UserCreate().name(name).email(name.toLowerCase() + "@java.example.com").password("a long secret")
      .roles(List.of("user"));
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient().setBasePath(args[0]).addDefaultHeader("authorization", args[1]);
    UsersApi users = new UsersApi(client);
    ProductsApi products = new ProductsApi(client);
    Map<String, Object> printed = new TreeMap<>();
    String whole = "return=representation";

    User user = users.usersCreate(new UsersCreateRequest(newUser("Ann")), whole, null, null).getUser();
    printed.put("create", user.getName());
    var page = users.usersList(null, 5, "-name", null, null, null, null, null, null, null, null,
      user.getEmail(), null, null, null, null, null, null, null, null);
    printed.put("list", page.getItems().stream().map(item -> item.getUser().getName()).toList());
    printed.put("get", users.usersGet(user.getId(), null, null, null).getUser().getName());
    printed.put("patch",
      users.usersPatch(user.getId(), new UserPatch().name("Annie"), whole, null, null).getUser().getName());
    ProductCreate chair = new ProductCreate().code("JAV-0001").name("Chair").price(12.5)
      .currency(Currency.CHF).stock(3);
    String id = products.productsCreate(new ProductsCreateRequest(chair), null, null, null).getOperationResult().getResult();
    printed.put("action", products.productsGetSummary(id, null).getResult().split(" ")[0]);
    File scan = Files.createTempDirectory("shop").resolve("scan.txt").toFile();
    Files.writeString(scan.toPath(), "hello");
    var uploaded = new FilesApi(client).filesUpload(scan, "a note");
    printed.put("upload", List.of(uploaded.getName(), uploaded.getSize(), uploaded.getNote()));
    printed.put("delete", users.usersDelete(user.getId(), null, null).getResult());
    try {
      users.usersGet(user.getId(), null, null, null);
    } catch (ApiException error) {
      ErrorMessage message = ErrorMessage.fromJson(error.getResponseBody());
      printed.put("error", List.of(error.getCode(), message.getModelName().getValue()));
    }
    System.out.println(new Gson().toJson(printed));
    System.exit(0);
  }
}
`
