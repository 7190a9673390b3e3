Feature: A host is asked for tools to compose, resources, bulk objects and surfaces
  They are served for a live call alone, within bounds that are refused and not cut.

  @0.4 @EXT04-NEST-008 @EXT04-NEST-009 @EXT04-NEST-010 @EXT04-NEST-012 @EXT04-NEST-015 @EXT04-NEST-016
  Scenario: Composition
    Given a sound extension
    And its tool has {"composition":{"mode":"on","inline_budget":1000}}
    When it asks during a call
      | method | params | answer | rule |
      | composition/context | {"parent_request_id":«call»} | result {"limits":{"timeout_ms":30000,"max_calls":256}} | EXT04-NEST-009 |
      | composition/context | {"parent_request_id":«initialize»} | error not_foreground_owner | EXT04-NEST-008 |
      | composition/context | {"parent_request_id":«call»,"resource_owner":«owner»} | error | EXT04-NEST-008 |
      | composition/call | {"parent_request_id":«call»,"name":«from 1 tools/0/name»,"arguments":{"marker":10}} | result or error internal_error | EXT04-NEST-010 |
      | composition/call | {"parent_request_id":«call»,"name":"ask","arguments":{"marker":12}} | error | EXT04-NEST-012 |
      | composition/call | {"parent_request_id":«call»,"name":"conform_none","arguments":{}} | error invalid_params or error not_foreground_owner | EXT04-NEST-012 |
      | composition/call | {"parent_request_id":«call»,"name":7,"arguments":{}} | error invalid_params | EXT04-NEST-015 |
      | composition/call | {"parent_request_id":«unissued»,"name":"conform_say","arguments":{}} | error not_foreground_owner | EXT04-NEST-015 |
      | composition/store | {"parent_request_id":«call»,"set":{},"delete":[«list 4097 "k%d"»]} | error invalid_params | EXT04-NEST-016 |
      | composition/store | {"parent_request_id":«call»,"set":{"first":1},"delete":[]} | result | EXT04-NEST-016 |
      | composition/store | {"parent_request_id":«call»,"set":{"second":1},"delete":[]} | error | EXT04-NEST-016 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-NEST-013
  Scenario: More nested calls than one call may make
    Given a sound extension
    And its tool has {"composition":{"mode":"on","inline_budget":1000}}
    When it asks during a call
      | times | method | params | answer |
      | 1 | composition/context | {"parent_request_id":«call»} | result |
      | 256 | composition/call | {"parent_request_id":«call»,"name":«from 1 tools/0/name»,"arguments":{"n":«n»}} | result or error |
      | 1 | composition/call | {"parent_request_id":«call»,"name":«from 1 tools/0/name»,"arguments":{"more":1}} | error |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-RES-007 @EXT04-RES-008 @EXT04-RES-009 @EXT04-RES-013
  Scenario: Resources
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | resource/register | {"parent_request_id":«call»,"type":"conform.Stop"} | result {"type":"conform.Stop"} | EXT04-RES-008 |
      | resource/register | {"parent_request_id":«initialize»,"type":"conform.Stop"} | error not_foreground_owner | EXT04-RES-007 |
      | resource/release | {"parent_request_id":«initialize»,"resource":«from 1»} | error not_foreground_owner | EXT04-RES-007 |
      | resource/release | {"parent_request_id":«call»,"resource":«from 1»} | result {"retired":true} | EXT04-RES-009 |
      | resource/register | {"parent_request_id":«call»,"type":7} | error invalid_params | EXT04-RES-013 |
      | resource/release | {"parent_request_id":«call»,"resource":{"$resource":"conform-foreign","type":"conform.Stop"}} | error not_foreground_owner | EXT04-RES-013 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-RES-008
  Scenario: More resources than one call may register
    Given a sound extension
    When it asks during a call
      | times | method | params | answer |
      | 32 | resource/register | {"parent_request_id":«call»,"type":"conform.Stop«n»"} | result |
      | 1 | resource/register | {"parent_request_id":«call»,"type":"conform.More"} | error |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-BULK-005 @EXT04-BULK-006 @EXT04-BULK-007 @EXT04-BULK-008 @EXT04-BULK-009 @EXT04-BULK-010
  Scenario: Bulk objects
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | bulk/write | {"parent_request_id":«call»,"profile":"local-file.v1","capacity":16,"media_type":"text/plain"} | result {"profile":"local-file.v1","capacity":16} | EXT04-BULK-007 |
      | bulk/write | {"parent_request_id":«call»,"profile":"local-file.v1","capacity":17,"media_type":"text/plain"} | result | EXT04-BULK-008 |
      | bulk/write | {"parent_request_id":«initialize»,"profile":"local-file.v1","capacity":16,"media_type":"text/plain"} | error not_foreground_owner | EXT04-BULK-006 |
      | bulk/write | {"parent_request_id":«call»,"profile":"local-file.v1","capacity":268435457,"media_type":"text/plain"} | error | EXT04-BULK-005 |
      | bulk/commit | {"parent_request_id":«call»,"ticket":«from 1 ticket»,"bytes":0,"digest":{"algorithm":"sha256","value":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}} | result {"bytes":0} | EXT04-BULK-009 |
      | bulk/commit | {"parent_request_id":«call»,"ticket":«from 1 ticket»,"bytes":0,"digest":{"algorithm":"sha256","value":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}} | error | EXT04-BULK-009 |
      | bulk/read | {"parent_request_id":«call»,"profile":"local-file.v1","blob":«from 5»} | result {"profile":"local-file.v1","bytes":0} | EXT04-BULK-007 |
      | bulk/release | {"parent_request_id":«call»,"id":«from 7 lease»} | result {"released":true} | EXT04-BULK-010 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-BULK-005
  Scenario: More writes than a process may begin
    Given a sound extension
    When it asks during a call
      | times | method | params | answer |
      | 8 | bulk/write | {"parent_request_id":«call»,"profile":"local-file.v1","capacity":10«n»,"media_type":"text/plain"} | result |
      | 1 | bulk/write | {"parent_request_id":«call»,"profile":"local-file.v1","capacity":200,"media_type":"text/plain"} | error |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-UI-008 @EXT04-UI-010 @EXT04-UI-014 @EXT04-UI-015 @EXT04-UI-016 @EXT04-UI-027
  Scenario: Surfaces
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | ui/open | {"parent_request_id":«call»,"surface_id":"one","title":"One","placement":"editor"} | result | EXT04-UI-008 |
      | ui/open | {"parent_request_id":«call»,"surface_id":"one","title":"One again","placement":"editor"} | error | EXT04-UI-010 |
      | ui/close | {"parent_request_id":«call»,"surface_id":"foreign"} | error | EXT04-UI-014 |
      | ui/close | {"parent_request_id":«call»,"surface_id":"one"} | result | EXT04-UI-014 |
      | ui/chrome | {"parent_request_id":«call»,"resource_owner":«owner»,"chrome":{"kind":"desktop_notification","title":"Conform","body":"Done."}} | result | EXT04-UI-015 |
      | ui/chrome | {"parent_request_id":«call»,"resource_owner":«owner»,"chrome":{"kind":"editor","surface_id":"one","operation":{}}} | error | EXT04-UI-016 |
      | ui/chrome | {"parent_request_id":«call»,"resource_owner":«owner»,"chrome":{"kind":"conform"}} | error | EXT04-UI-016 |
      | composer/submit | {"parent_request_id":«call»} | token unsupported_feature | EXT04-UI-027 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-ORDER-014 @EXT04-ORDER-015
  Scenario: The end
    Given a sound extension
    When it asks before shutdown is answered
      | method | params | answer | rule |
      | conform/unknown | {} | an answer | EXT04-ORDER-014 |
      | composer/get | {"parent_request_id":«call»,"resource_owner":«owner»} | token not_foreground_owner | EXT04-ORDER-015 |
    Then the host answers as wanted
    And the host says what the tool said
