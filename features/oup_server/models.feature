@v1alpha1
Feature: Models of a profile

  @OUP-LLM-003
  Scenario: The first model is the one in use
    Given a server of its own
    And a connection
    And a model for the run
    Then the answer is {"applied":true,"primary":{"family_id":"«family»","model_id":"one"},"fallbacks":[]}

  @OUP-LLM-003 @OUP-LLM-004 @OUP-LLM-005
  Scenario: Further models stand behind it
    Given a server of its own
    And a connection
    And a model for the run
    Then each of these calls ends so:
      | rule        | call               | params                                                                                                                                     | ends                                                                                |
      | OUP-LLM-003 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"api_key_env":"«variable»"}}}                      | result {"primary":{"model_id":"one"},"fallbacks":["«some»",{"model_id":"two"}]}     |
      | OUP-LLM-004 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"api_key_env":"«variable»"}}}                      | result {"fallbacks":{"0":{"model_id":"two"},"1":"«absent»"}}                        |
      | OUP-LLM-004 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"other","api_key_env":"«variable»"}}}   | result {"fallbacks":{"0":{"model_id":"two"},"1":{"model_id":"two"},"2":"«absent»"}} |
      | OUP-LLM-003 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"three","route":{"api_key_env":"«variable»"}},"set_primary":true} | result {"primary":{"model_id":"three"}}                                             |
      | OUP-LLM-005 | profile/llm/list   | {"profile_id":"«profile»"}                                                                                                                 | result {"fallbacks":["«some»",{"model_id":"one"}]}                                  |

  @OUP-LLM-002 @OUP-LLM-014
  Scenario: Keys are taken in every form
    Given a server of its own
    And a connection
    And a model for the run
    Then each of these calls ends so:
      | rule        | call               | params                                                                                                                                                                     | ends                                                                      |
      | OUP-LLM-002 | profile/llm/list   | {"profile_id":"«profile»"}                                                                                                                                                 | result {"primary":{"model_id":"one","has_api_key":false}}                 |
      | OUP-LLM-014 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"plain","api_key_env":"«variable»_A"}},"api_key":"«key»"}               | result {"fallbacks":["«some»",{"route_id":"plain","has_api_key":true}]}   |
      | OUP-LLM-014 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"value","api_key_env":"«variable»_B"}},"api_key":{"value":"«key»"}}     | result {"fallbacks":["«some»",{"route_id":"value","has_api_key":true}]}   |
      | OUP-LLM-014 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"secret","api_key_env":"«variable»_C"}},"api_key":{"secret":"«key»"}}   | result {"fallbacks":["«some»",{"route_id":"secret","has_api_key":true}]}  |
      | OUP-LLM-014 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"api_key","api_key_env":"«variable»_D"}},"api_key":{"api_key":"«key»"}} | result {"fallbacks":["«some»",{"route_id":"api_key","has_api_key":true}]} |
      | OUP-LLM-014 | profile/llm/list   | {"profile_id":"«profile»"}                                                                                                                                                 | result {"primary":{"route":{"api_type":"«absent or openai»"}}}            |
      | OUP-LLM-002 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"none","api_key_env":"«variable»_E"}}}                                  | result {"fallbacks":["«some»",{"route_id":"none","has_api_key":false}]}   |

  @OUP-LLM-002
  Scenario: Nothing tells a key
    Given a server of its own
    And a connection
    And a model for the run
    When the client calls profile/llm/upsert with {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"plain","api_key_env":"«variable»_A"}},"api_key":"«key»"}
    Then the answer is {"fallbacks":["«some»",{"has_api_key":true}]}
    When the client calls profile/llm/list with {"profile_id":"«profile»"}
    Then no key of the run was told

  @OUP-LLM-001
  Scenario: A key is in no error
    Given a server of its own
    And a connection
    And a model for the run
    When the client calls profile/llm/upsert with {"profile_id":"«profile»","selection":{"family_id":"«family»","route":{"api_key_env":"«variable»"}},"api_key":"«key»"}
    And the client calls profile/llm/upsert with {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"api_key_env":"«variable»"}},"api_key":["«key»"]}
    And the client calls profile/llm/test with {"profile_id":"«profile»","selection":{"family_id":"«family»","route":{"api_key_env":"«variable»"}},"api_key":{"value":"«key»"}}
    Then no key of the run was told

  @OUP-LLM-006
  Scenario: A try stores nothing, and may fail
    Given a server of its own
    And a connection
    And a model for the run
    Then each of these calls ends so:
      | rule        | call             | params                                                                                                                    | ends                                                                              |
      | OUP-LLM-006 | profile/llm/test | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"tried","route":{"api_key_env":"«variable»_T"}}} | result {"applied":false}                                                          |
      | OUP-LLM-006 | profile/llm/list | {"profile_id":"«profile»"}                                                                                                | result {"primary":{"model_id":"one"},"fallbacks":["«none»",{"model_id":"tried"}]} |

  @OUP-LLM-013
  Scenario: A list of models does not come without a key
    Given a server of its own
    And a connection
    And a model for the run
    Then each of these calls ends so:
      | rule        | call                     | params                                                                                                 | ends                                                          |
      | OUP-LLM-013 | profile/llm/fetch_models | {"profile_id":"«profile»","selection":{"family_id":"«family»","route":{"api_key_env":"«variable»_F"}}} | result {"family_id":"«family»","models":[],"reason":"«text»"} |

  @OUP-LLM-009 @OUP-LLM-010 @OUP-LLM-011
  Scenario: A model is chosen
    Given a server of its own
    And a connection
    And a model for the run
    Then each of these calls ends so:
      | rule        | call               | params                                                                                                                                                       | ends                                                               |
      | OUP-LLM-009 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"plain","api_key_env":"«variable»_A"}},"api_key":"«key»"} | result                                                             |
      | OUP-LLM-009 | profile/llm/upsert | {"profile_id":"«profile»","selection":{"family_id":"«family»","model_id":"two","route":{"route_id":"other","api_key_env":"«variable»_B"}},"api_key":"«key»"} | result                                                             |
      | OUP-LLM-009 | profile/llm/select | {"profile_id":"«profile»","model_id":"two"}                                                                                                                  | error invalid_params                                               |
      | OUP-LLM-009 | profile/llm/select | {"profile_id":"«profile»","model_id":"two","route_id":"other"}                                                                                               | result {"applied":true,"selected":{"model":"two","selected":true}} |
      | OUP-LLM-009 | profile/llm/list   | {"profile_id":"«profile»"}                                                                                                                                   | result {"primary":{"model_id":"two","route_id":"other"}}           |
      | OUP-LLM-010 | profile/llm/select | {"profile_id":"«profile»","model_id":"nobody-has-it"}                                                                                                        | error resource_not_found data {"resource_type":"configured model"} |
      | OUP-LLM-010 | profile/llm/select | {"profile_id":"nobody-at-all","model_id":"two"}                                                                                                              | error resource_not_found data {"resource_type":"profile"}          |
      | OUP-LLM-011 | profile/llm/select | {"profile_id":"«profile»","model_id":"one"}                                                                                                                  | error invalid_params                                               |
      | OUP-LLM-011 | profile/llm/list   | {"profile_id":"«profile»"}                                                                                                                                   | result {"primary":{"model_id":"two"}}                              |

  @OUP-LLM-012
  Scenario: A session has models, and no more
    Given a connection
    And the server serves profile/llm/list
    And a session
    When the client calls profile/llm/list with {"session_id":"«session»"}
    Then the answer is {"session_id":"«session»","models":"«list»","profile_id":"«absent»","primary":"«absent»","fallbacks":"«absent»","llm":"«absent»","runtime_policy_stamp":"«absent»"}

  @OUP-LLM-015 @websocket
  Scenario: Models are kept over a restart
    Given a server of its own
    And a connection
    And a model for the run
    When the server is killed and started again
    And a connection "next"
    And the client calls profile/llm/list with {"profile_id":"«profile»"}
    Then the answer is {"primary":{"family_id":"«family»","model_id":"one"}}
