Feature: A host is asked for a person, a secret or leave
  Nobody is there to be asked. A host says so, and takes no silence for a yes.

  @0.1 @0.2 @0.4 @EXT04-CONFIRM-002 @EXT04-CONFIRM-003 @EXT04-CONFIRM-005
  Scenario: Confirmations that nobody can give
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | confirmation/request | {"parent_request_id":«call»,"prompt":"Plain?","detail":null,"destructive":false,"default":false} | result | EXT04-CONFIRM-002 |
      | confirmation/request | {"parent_request_id":«call»,"prompt":"Alone?","detail":"Nobody is there.","destructive":true,"default":false} | result {"confirmed":false} | EXT04-CONFIRM-003 |
      | confirmation/request | {"parent_request_id":«call»,"prompt":"By default?","detail":null,"destructive":false,"default":true} | result {"confirmed":false} | EXT04-CONFIRM-005 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.1 @0.2 @0.4 @EXT04-CONFIRM-004
  Scenario: Confirmations that the manifest does not declare
    Given a sound extension
    And its manifest declares {"confirmations":false}
    When it asks during a call
      | method | params | answer |
      | confirmation/request | {"parent_request_id":«call»,"prompt":"Go on?","detail":null,"destructive":false,"default":true} | result {"confirmed":false} |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-CONFIRM-008 @EXT04-INPUT-002 @EXT04-INPUT-003 @EXT04-INPUT-004 @EXT04-INPUT-007
  Scenario: Questions
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | confirmation/request | {"parent_request_id":«call»,"prompt":"Go on?","detail":null,"destructive":false,"default":"yes"} | error invalid_params | EXT04-CONFIRM-008 |
      | confirmation/request | {"parent_request_id":«call»,"detail":null,"destructive":false,"default":true} | error invalid_params | EXT04-CONFIRM-008 |
      | confirmation/request | {"parent_request_id":«initialize»,"prompt":"Go on?","detail":null,"destructive":false,"default":true} | error not_foreground_owner | EXT04-CONFIRM-008 |
      | input/request | {"parent_request_id":«call»,"prompt":"Undeclared?","secret":false} | result | EXT04-INPUT-002 |
      | input/request | {"parent_request_id":«call»,"prompt":"Anybody?","secret":true} | result {"value":null} | EXT04-INPUT-003 |
      | input/request | {"parent_request_id":«call»,"prompt":" \t","secret":false} | error invalid_params | EXT04-INPUT-004 |
      | input/request | {"parent_request_id":«call»,"prompt":"«repeat 16385 p»","secret":false} | error invalid_params | EXT04-INPUT-004 |
      | input/request | {"parent_request_id":«call»,"prompt":"Secret?","secret":"no"} | error invalid_params | EXT04-INPUT-007 |
      | input/request | {"parent_request_id":«unissued»,"prompt":"Parent?","secret":false} | error not_foreground_owner | EXT04-INPUT-007 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-SECRET-003 @EXT04-SECRET-004 @EXT04-SECRET-005 @EXT04-SECRET-006
  Scenario: Secrets
    Given a sound extension
    And its manifest asks for {"secrets":["peer_key","peer_lost"]}
    When it asks during a call
      | method | params | answer | rule |
      | secret/get | {"parent_request_id":«call»,"name":"peer_key"} | result or error secret_unavailable | EXT04-SECRET-003 |
      | secret/get | {"parent_request_id":«call»,"name":"peer_other"} | error invalid_params | EXT04-SECRET-004 |
      | secret/get | {"parent_request_id":«call»,"name":"«repeat 65 n»"} | error invalid_params | EXT04-SECRET-004 |
      | secret/get | {"parent_request_id":«initialize»,"name":"peer_key"} | error not_foreground_owner | EXT04-SECRET-005 |
      | secret/get | {"parent_request_id":«call»,"name":"peer_lost"} | text secret_unavailable | EXT04-SECRET-006 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-POLICY-003 @EXT04-POLICY-005
  Scenario: Leave without approvals
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"look","target":{}}} | result | EXT04-POLICY-003 |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"look","target":{}},"approval_token":"«repeat 64 0»"} | error invalid_params | EXT04-POLICY-005 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-POLICY-006 @EXT04-POLICY-007 @EXT04-POLICY-008
  Scenario: Approvals
    Given a sound extension
    And it selects "approvals"
    When it asks during a call
      | method | params | answer | rule |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"one","target":{}}} | result {"decision":"ask"} or result {"decision":"deny"} | EXT04-POLICY-006 |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"target":{},"operation":"one","kind":"conform"},"approval_token":«from 1 approval_token»} | result {"decision":"allow"} or error invalid_params | EXT04-POLICY-007 |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"one","target":{}},"approval_token":«from 1 approval_token»} | result {"decision":"deny"} or error invalid_params | EXT04-POLICY-008 |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"two","target":{}}} | result {"decision":"ask"} or result {"decision":"deny"} | EXT04-POLICY-006 |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"three","target":{}},"approval_token":«from 4 approval_token»} | result {"decision":"deny"} or error invalid_params | EXT04-POLICY-006 |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"two","target":{}},"approval_token":«from 4 approval_token»} | result {"decision":"deny"} or error invalid_params | EXT04-POLICY-008 |
      | policy/evaluate | {"parent_request_id":«call»,"intent":{"kind":"conform","operation":"four","target":{}},"approval_token":"«repeat 64 0»"} | result {"decision":"deny"} | EXT04-POLICY-008 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-INPUT-006
  Scenario: A question that outlives its call
    Given a sound extension
    When it asks at once during a call
      | method | params | answer |
      | input/request | {"parent_request_id":«call»,"prompt":"Take your time.","secret":false} | nothing or result {"value":null} |
    Then the host answers as wanted
    And what was not answered was cancelled once
    And the host says what the tool said

  @0.1 @0.2 @0.4 @EXT04-LIMIT-006
  Scenario: More questions than may be open
    Given a sound extension
    When it asks at once during a call
      | times | method | params | answer |
      | 128 | confirmation/request | {"parent_request_id":«call»,"prompt":"Take your time.","detail":null,"destructive":false,"default":false} | nothing or result {"confirmed":false} |
      | 1 | confirmation/request | {"parent_request_id":«call»,"prompt":"One too many?","detail":null,"destructive":false,"default":false} | token bounds_exceeded or result {"confirmed":false} |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-PRES-007
  Scenario: A snapshot needs a declaration and no feature
    Given a sound extension
    When it asks at once during a call
      | method | params | answer |
      | presentation/update | {"parent_request_id":«call»,"snapshot":{"revision":1,"status":{"state":"active","label":"on tour"}}} | nothing |
      | conform/unknown | {} | token unsupported_feature |
    Then the host answers as wanted
    And the host says what the tool said
